package import AppStoreModel

/// What the `Retry-After` headers of a 429 say, made safe to wait for.
///
/// Apple's header holds UNIX milliseconds; a proxy's holds seconds from now or a date. Rules H20 to H28.
package struct RetryAfter: Equatable, Sendable {
    /// What was unusual about the headers; shown with the wait.
    package enum Oddity: String, Sendable {
        /// No header, or none that could be read.
        case unreadable
        /// A number too small for a moment was taken for seconds from now.
        case seconds
        /// The moment is past.
        case past
        /// The moment is more than ``longestWait`` away.
        case tooFar
    }

    package static let shortestWait = Duration.seconds(1)
    package static let longestWait = Duration.seconds(3_600)
    /// The wait where the header names none; doubled by every repeat.
    package static let defaultWait = Duration.seconds(60)

    /// How long after the answer to ask again: ``shortestWait`` to ``longestWait``.
    package let wait: Duration
    /// When that is, on the clock the headers were read by.
    package let moment: UnixMilliseconds
    /// The most telling oddity; `nil` for what Apple documents.
    package let oddity: Oddity?

    /// Reads the headers.
    ///
    /// - Parameters:
    ///   - rawValues: Every `Retry-After` header of the answer; the latest moment among them counts.
    ///   - now: The clock of whoever named the moment, where it is known; else this machine's.
    ///   - consecutive: How many 429s came in a row, this one included; only used where no header can be read.
    package init(_ rawValues: [String], now: UnixMilliseconds, consecutive: Int) {
        let readings = rawValues.compactMap { Reading($0, now: now) }
        guard let latest = readings.max(by: { $0.wait < $1.wait }) else {
            // 60 s reach the longest wait at the seventh, so more doublings change nothing.
            let doublings = min(max(consecutive, 1), 7) - 1
            wait = min(Self.defaultWait * (1 << doublings), Self.longestWait)
            moment = now + wait
            oddity = .unreadable
            return
        }
        wait = min(max(latest.wait, Self.shortestWait), Self.longestWait)
        moment = now + wait
        oddity =
            switch latest.wait {
            case ...Duration.zero: .past
            case let wait where wait > Self.longestWait: .tooFar
            default: latest.isSeconds ? .seconds : nil
            }
    }
}

/// One header that could be read.
private struct Reading {
    let wait: Duration
    var isSeconds = false

    init?(_ rawValue: String, now: UnixMilliseconds) {
        let text = rawValue.trimmingSpaces()
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // Fails for an empty text and beyond Int64.
            guard let number = Int64(text) else { return nil }
            // 1e10 ms is 1970 and 1e10 s is 317 years: below, it cannot be Apple's moment.
            isSeconds = number < 10_000_000_000
            wait = isSeconds ? .seconds(number) : UnixMilliseconds(rawValue: number) - now
        } else {
            guard let date = HTTPDate.parse(text) else { return nil }
            wait = date - now
        }
    }
}

extension String {
    /// The text without the spaces and tabs HTTP allows around a header's value.
    fileprivate func trimmingSpaces() -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(self[first...last])
    }
}
