import AppStoreModel
import RateLimit
import TestSupport
import Testing

struct RetryAfterTests {
    /// 2026-11-21T00:00:00Z.
    private static let now = UnixMilliseconds(rawValue: 1_795_219_200_000)

    struct Case: CustomTestStringConvertible, Sendable {
        let id: String
        let headers: [String]
        var consecutive = 1
        let seconds: Double
        let oddity: RetryAfter.Oddity?

        init(_ id: String, _ headers: [String], consecutive: Int = 1, _ seconds: Double, _ oddity: RetryAfter.Oddity?) {
            self.id = id
            self.headers = headers
            self.consecutive = consecutive
            self.seconds = seconds
            self.oddity = oddity
        }

        var testDescription: String { "\(id) \(headers) x\(consecutive)" }
    }

    static let cases: [Case] = [
        Case("H20", ["1795219205000"], 5, nil),
        Case("H20", ["1795219201500"], 1.5, nil),
        Case("H20", [" \t1795219205000 "], 5, nil),
        Case("H21", ["1826755200000"], 3_600, .tooFar),
        Case("H21", ["1795222800000"], 3_600, nil),
        Case("H21", ["1795222800001"], 3_600, .tooFar),
        Case("H21", ["9223372036854775807"], 3_600, .tooFar),
        Case("H22", ["120"], 120, .seconds),
        Case("H22", ["00120"], 120, .seconds),
        Case("H22", ["9999999999"], 3_600, .tooFar),
        Case("H22", ["0"], 1, .past),
        Case("H23", ["Sat, 21 Nov 2026 00:02:00 GMT"], 120, nil),
        Case("H23", ["Sat, 21 Nov 2026 02:00:00 GMT"], 3_600, .tooFar),
        Case("H24", [], 60, .unreadable),
        Case("H24", ["soon"], 60, .unreadable),
        Case("H24", ["-1"], 60, .unreadable),
        Case("H24", ["+5"], 60, .unreadable),
        Case("H24", [""], 60, .unreadable),
        Case("H24", ["  "], 60, .unreadable),
        Case("H24", ["1e400"], 60, .unreadable),
        Case("H24", ["1.5"], 60, .unreadable),
        Case("H24", ["99999999999999999999"], 60, .unreadable),
        Case("H24", ["9223372036854775808"], 60, .unreadable),
        Case("H24", ["١٢٠"], 60, .unreadable),
        Case("H24", [], consecutive: 0, 60, .unreadable),
        Case("H24", [], consecutive: -7, 60, .unreadable),
        Case("H24", [], consecutive: 2, 120, .unreadable),
        Case("H24", [], consecutive: 3, 240, .unreadable),
        Case("H24", ["soon"], consecutive: 6, 1_920, .unreadable),
        Case("H24", [], consecutive: 7, 3_600, .unreadable),
        Case("H24", [], consecutive: .max, 3_600, .unreadable),
        Case("H25", ["1795219199000"], 1, .past),
        Case("H25", ["10000000000"], 1, .past),
        Case("H25", ["Tue, 21 Oct 2026 07:28:00 GMT"], 1, .past),
        Case("H26", ["1795219205000", "1795219230000"], 30, nil),
        Case("H26", ["1795219230000", "1795219205000"], 30, nil),
        Case("H26", ["soon", "1795219205000"], 5, nil),
        Case("H26", ["30", "1795219205000"], consecutive: 9, 30, .seconds),
        Case("H26", ["soon", ""], consecutive: 2, 120, .unreadable),
    ]

    @Test(arguments: cases)
    func `every header becomes a moment that can be waited for`(_ row: Case) {
        let read = RetryAfter(row.headers, now: Self.now, consecutive: row.consecutive)
        #expect(read.moment - Self.now == .seconds(row.seconds))
        #expect(read.oddity == row.oddity)
    }

    @Test(arguments: 0..<200)
    func `the wait is a second to an hour for any headers`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let alphabet = Array("0123456789 -+.,:eGMTSatNov\t\u{0}é")
        for _ in 0..<50 {
            let headers = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                String(
                    (0..<Int.random(in: 0...22, using: &random)).compactMap { _ in
                        alphabet.randomElement(using: &random)
                    }
                )
            }
            let consecutive = Int.random(in: -2...20, using: &random)
            let wait = RetryAfter(headers, now: Self.now, consecutive: consecutive).moment - Self.now
            #expect(wait >= .seconds(1) && wait <= .seconds(3_600), "\(headers)")
        }
    }
}
