package import AppStoreModel

/// Compares the ledger's clock with this machine's monotonic clock and with the `Date` headers of answers.
///
/// The ledger reads its clock at an unknown moment between query and result, and the server writes its date at an
/// unknown moment between request and response. A difference counts only if no such moment explains it.
package struct ClockWatch: Sendable {
    /// The largest difference that is accepted; `Date` has whole seconds, and no clock is exact.
    static let tolerance = Duration.seconds(60)
    /// The number of consecutive answers with a wrong date that end the crawl.
    ///
    /// A single one can come from a cache.
    static let maximumOddDates = 3

    private var ledger: (reading: UnixMilliseconds, asked: Duration, answered: Duration)?
    private var oddDates = 0

    package init() {}

    /// Records a reading of the ledger's clock; `asked` and `answered` are moments of `Timekeeper.monotonic`.
    ///
    /// - Throws: ``ClockDisagreement`` when the clock was set since the last reading. A clock that is set forward frees
    ///   budget that is still spent. A clock that is set back frees none until it has caught up.
    mutating func ledgerRead(_ reading: UnixMilliseconds, asked: Duration, answered: Duration) throws(ClockDisagreement)
    {
        if let step = step(at: reading, asked: asked, answered: answered) { throw step }
    }

    /// Records a reading as ``ledgerRead(_:asked:answered:)`` does, and returns how the clock was set since the last one.
    package mutating func step(
        at reading: UnixMilliseconds,
        asked: Duration,
        answered: Duration
    ) -> ClockDisagreement? {
        let last = ledger
        ledger = (reading, asked, answered)
        guard let last else { return nil }
        let passed = reading - last.reading
        let longest = answered - last.asked
        let shortest = asked - last.answered
        let step = max(passed - longest, .zero) + min(passed - shortest, .zero)
        guard abs(step.components.seconds) <= Self.tolerance.components.seconds else {
            let seconds = step.components.seconds
            return ClockDisagreement(
                sentence: "PostgreSQL's clock was set \(seconds > 0 ? "forward" : "back") by \(abs(seconds)) s"
            )
        }
        return nil
    }

    /// See ``RateLimiter/agrees(with:sent:)``.
    mutating func agrees(with date: String?, sent: Duration, received: Duration) throws(ClockDisagreement) -> Bool {
        guard let ledger, let date = HTTPDate.ofServer(date) else { return true }
        let earliest = ledger.reading + (sent - ledger.answered)
        let latest = ledger.reading + (received - ledger.asked)
        // Positive if PostgreSQL's clock is ahead, negative if it is behind.
        let ahead = date < earliest ? earliest - date : min(latest - date, .zero)
        guard abs(ahead.components.seconds) > Self.tolerance.components.seconds else {
            oddDates = 0
            return true
        }
        oddDates += 1
        guard oddDates < Self.maximumOddDates else {
            let seconds = ahead.components.seconds
            let sentence =
                "PostgreSQL's clock is \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") the Date header of Apple's answers"
            throw ClockDisagreement(sentence: sentence)
        }
        return false
    }
}
