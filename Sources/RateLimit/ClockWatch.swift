import AppStoreModel

/// Compares the ledger's clock with this machine's monotonic clock and with the `Date` headers of answers.
///
/// The ledger reads its clock at an unknown moment between query and result, and the server writes its date at an
/// unknown moment between request and response. A difference counts only if no such moment explains it.
struct ClockWatch: Sendable {
    /// The largest difference that is accepted; `Date` has whole seconds, and no clock is exact.
    static let tolerance = Duration.seconds(60)
    /// The number of consecutive answers with a wrong date that end the crawl.
    ///
    /// A single one can come from a cache.
    static let maximumOddDates = 3

    private var ledger: (reading: UnixMilliseconds, asked: Duration, answered: Duration)?
    private var oddDates = 0

    /// Records a reading of the ledger's clock; `asked` and `answered` are moments of `Timekeeper.monotonic`.
    ///
    /// - Throws: ``ClockDisagreement`` when the clock was set since the last reading. Set forward, it frees budget
    ///   that is still spent. Set back, no budget is freed until the clock has caught up.
    mutating func ledgerRead(_ reading: UnixMilliseconds, asked: Duration, answered: Duration) throws(ClockDisagreement)
    {
        let last = ledger
        ledger = (reading, asked, answered)
        guard let last else { return }
        let passed = reading - last.reading
        let step = max(passed - (answered - last.asked), .zero) + min(passed - (asked - last.answered), .zero)
        guard abs(step.components.seconds) <= Self.tolerance.components.seconds else {
            let seconds = step.components.seconds
            throw ClockDisagreement(
                sentence: "PostgreSQL's clock was set \(seconds > 0 ? "forward" : "back") by \(abs(seconds)) s"
            )
        }
    }

    /// See ``RateLimiter/agrees(with:sent:)``.
    mutating func agrees(with date: String?, sent: Duration, received: Duration) throws(ClockDisagreement) -> Bool {
        guard let ledger, let date = HTTPDate.ofServer(date) else { return true }
        let earliest = ledger.reading + (sent - ledger.answered)
        let latest = ledger.reading + (received - ledger.asked)
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
