import AppStoreModel
import Glibc
import RateLimit

extension FuzzTarget {
    /// `Retry-After`: for any value, the wait is at least a second and at most an hour.
    ///
    /// The first byte is how many 429s came in a row, five more are the clock; then one header on each line.
    static let retryAfter = FuzzTarget(name: "retry-after", longestInput: 256) { input in
        var reader = InputReader(input)
        let consecutive = Int(Int8(bitPattern: reader.byte()))
        // Up to the year 2318.
        let now = UnixMilliseconds(rawValue: (0..<5).reduce(0) { sum, _ in sum << 8 | Int64(reader.byte()) } * 10)
        let values = reader.remaining().split(separator: 0x0A).map { String(decoding: $0, as: UTF8.self) }
        let wait = RetryAfter(values, now: now, consecutive: consecutive).moment - now
        try promise(
            (RetryAfter.shortestWait...RetryAfter.longestWait).contains(wait),
            "a wait of \(wait)"
        )
        for value in values {
            guard let date = HTTPDate.parse(value) else { continue }
            // The weekday is not judged, and a leap second is written as the next one.
            guard !value.hasSuffix(":60 GMT") else { continue }
            try promise(value.dropFirst(5) == written(date).dropFirst(5), "\(value) was read as \(written(date))")
        }
    }

    /// As the C library writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func written(_ date: UnixMilliseconds) -> String {
        var seconds = time_t(date.rawValue / 1_000)
        var parts = unsafe tm()
        var text = [CChar](repeating: 0, count: 64)
        unsafe gmtime_r(&seconds, &parts)
        let count = unsafe strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
        return String(decoding: text[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
