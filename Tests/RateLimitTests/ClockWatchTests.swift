import AppStoreModel
import Testing

@testable import RateLimit

/// The ledger's clock against Apple's (CK5, CK8).
struct ClockWatchTests {
    /// Sun, 22 Nov 2026 12:00:00 GMT.
    private static let noon = UnixMilliseconds(rawValue: 1_795_348_800_000)

    /// A watch whose ledger read its clock, `ahead` of the true time, between second 0 and second 1 after noon.
    private func watch(ahead: Duration) throws -> ClockWatch {
        var watch = ClockWatch()
        try watch.ledgerRead(Self.noon + ahead + .milliseconds(500), asked: .zero, answered: .seconds(1))
        return watch
    }

    private static func date(_ clock: String) -> String { "Sun, 22 Nov 2026 \(clock) GMT" }

    @Test(arguments: [
        (7_200, "7198 s ahead of"), (63, "61 s ahead of"), (-64, "62 s behind"), (-3_600, "3598 s behind"),
    ])
    func `CK5 a ledger whose clock is off by more than a minute ends the crawl at the third answer`(
        seconds: Int,
        words: String
    ) throws {
        var watch = try watch(ahead: .seconds(seconds))
        for _ in 1...2 {
            #expect(try !watch.agrees(with: Self.date("12:00:03"), sent: .seconds(2), received: .seconds(4)))
        }
        let stop = #expect(throws: ClockDisagreement.self) {
            _ = try watch.agrees(with: Self.date("12:00:03"), sent: .seconds(2), received: .seconds(4))
        }
        #expect(stop?.sentence.contains(words) == true, "\(String(describing: stop))")
    }

    @Test(arguments: [-60, -30, 0, 1, 30, 59])
    func `a clock difference within a minute is not reported`(seconds: Int) throws {
        var watch = try watch(ahead: .seconds(seconds))
        for _ in 1...10 {
            #expect(try watch.agrees(with: Self.date("12:00:03"), sent: .seconds(2), received: .seconds(4)))
        }
    }

    @Test func `an answer that was long on its way may have been written at any moment of it`() throws {
        var watch = try watch(ahead: .zero)
        for clock in ["12:00:02", "12:10:00", "12:19:59"] {
            for _ in 1...3 {
                #expect(try watch.agrees(with: Self.date(clock), sent: .seconds(2), received: .seconds(1_200)))
            }
        }
    }

    @Test func `an old answer out of a cache, now and then, ends nothing`() throws {
        var watch = try watch(ahead: .zero)
        for _ in 1...5 {
            #expect(try !watch.agrees(with: Self.date("11:00:00"), sent: .seconds(2), received: .seconds(3)))
            #expect(try !watch.agrees(with: Self.date("11:00:00"), sent: .seconds(2), received: .seconds(3)))
            #expect(try watch.agrees(with: Self.date("12:00:02"), sent: .seconds(2), received: .seconds(3)))
        }
    }

    @Test(arguments: [nil, "", "yesterday", "Thu, 01 Jan 1970 00:00:00 GMT", "1795348800"])
    func `CK8 a Date header that is missing, garbage or from 1970 is no evidence`(date: String?) throws {
        var watch = try watch(ahead: .seconds(7_200))
        for _ in 1...10 { #expect(try watch.agrees(with: date, sent: .seconds(2), received: .seconds(3))) }
    }

    @Test(arguments: [
        (3_600, "forward by 3597 s"), (-3_600, "back by 3597 s"), (65, "forward by 62 s"), (-65, "back by 62 s"),
    ])
    func `CK4 CK5 a step of the ledger's clock ends the crawl before anything more is granted`(
        seconds: Int,
        words: String
    ) throws {
        var watch = try watch(ahead: .zero)
        // Slow answers explain a few seconds of it.
        let clock = Self.noon + .seconds(100 + seconds)
        let stop = #expect(throws: ClockDisagreement.self) {
            try watch.ledgerRead(clock, asked: .seconds(98), answered: .seconds(102))
        }
        #expect(stop?.sentence.contains(words) == true, "\(String(describing: stop))")
    }

    @Test(arguments: [-59, -1, 0, 1, 59])
    func `a clock that is set by less than a minute goes on`(seconds: Int) throws {
        var watch = try watch(ahead: .zero)
        try watch.ledgerRead(Self.noon + .seconds(100 + seconds), asked: .seconds(98), answered: .seconds(102))
    }

    @Test func `CK3 a process that was stopped for hours between question and answer reports no clock`() throws {
        var watch = try watch(ahead: .zero)
        try watch.ledgerRead(Self.noon + .seconds(20), asked: .seconds(10), answered: .seconds(9_000))
        try watch.ledgerRead(Self.noon + .seconds(9_001), asked: .seconds(9_001), answered: .seconds(9_002))
    }
}
