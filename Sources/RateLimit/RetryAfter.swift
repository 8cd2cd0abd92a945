package import AppStoreModel

/// The wait that the `Retry-After` headers of a 429 or a 5xx ask for, from 1 s to 1 h.
///
/// Apple sends UNIX milliseconds. Other servers send seconds from now or a date.
package struct RetryAfter: Equatable, Sendable {
    /// An irregularity of the headers.
    ///
    /// It is shown with the wait.
    package enum Oddity: String, Sendable {
        /// There is no readable header.
        case unreadable
        /// The number is too small for a moment and was read as seconds from now.
        case seconds
        /// The moment is in the past.
        case past
        /// The moment is more than ``longestWait`` away.
        case tooFar
    }

    package static let shortestWait = Duration.seconds(1)
    package static let longestWait = Duration.seconds(3_600)
    /// The wait without a readable header.
    ///
    /// It doubles with every repeat.
    package static let defaultWait = Duration.seconds(60)

    /// The time from the answer to the next request: ``shortestWait`` to ``longestWait``.
    package let wait: Duration
    /// The end of the wait, on the clock by which the headers were read.
    package let moment: UnixMilliseconds
    /// `nil` for headers as Apple documents them.
    package let oddity: Oddity?

    /// Reads the headers.
    ///
    /// - Parameters:
    ///   - rawValues: Every `Retry-After` header of the answer. The latest moment counts.
    ///   - now: The server's clock if it is known, otherwise this machine's.
    ///   - consecutive: The number of 429s in a row, including this one. Used only without a readable header.
    package init(_ rawValues: [String], now: UnixMilliseconds, consecutive: Int) {
        let readings = rawValues.compactMap { Reading($0, now: now) }
        guard let latest = readings.max(by: { $0.wait < $1.wait }) else {
            // The seventh wait reaches the longest, so more doublings change nothing.
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
            // 1e10 ms is a date in 1970, and 1e10 s are 317 years. So a smaller number cannot be Apple's moment.
            isSeconds = number < 10_000_000_000
            wait = isSeconds ? .seconds(number) : UnixMilliseconds(rawValue: number) - now
        } else {
            guard let date = HTTPDate.parse(text) else { return nil }
            wait = date - now
        }
    }
}

extension String {
    /// Removes the spaces and tabs that HTTP allows around a header's value.
    fileprivate func trimmingSpaces() -> String {
        let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(self[first...last])
    }
}
