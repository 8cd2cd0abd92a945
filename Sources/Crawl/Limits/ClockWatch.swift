import AppStoreModel

/// Watches the ledger's clock: against this machine's monotonic one, and against the `Date` headers of answers.
///
/// All are compared as spans: the ledger read its clock at some moment between question and answer, and the server wrote
/// its date at some moment between request and response. Only what no moment can explain counts.
struct ClockWatch: Sendable {
    /// How far the clocks may differ; a `Date` is whole seconds, and nobody's clock is exact.
    static let tolerance = Duration.seconds(60)
    /// So many answers in a row end the crawl; a single one may have come from a cache.
    static let patience = 3

    private var ledger: (reading: UnixMilliseconds, asked: Duration, answered: Duration)?
    private var oddDates = 0

    /// Notes the ledger's clock, asked for and answered at these moments of `Timekeeper.monotonic`.
    ///
    /// - Throws: ``StopReason/clocks(_:)`` when it was set since the last time: forward, it frees budget that is still
    ///   spent; back, the ledger's time stands still until it has caught up.
    mutating func ledgerRead(_ reading: UnixMilliseconds, asked: Duration, answered: Duration) throws(StopReason) {
        let last = ledger
        ledger = (reading, asked, answered)
        guard let last else { return }
        let passed = reading - last.reading
        let step = max(passed - (answered - last.asked), .zero) + min(passed - (asked - last.answered), .zero)
        guard abs(step.components.seconds) <= Self.tolerance.components.seconds else {
            let seconds = step.components.seconds
            throw .clocks(
                FailureReport(
                    message: "PostgreSQL's clock was set \(seconds > 0 ? "forward" : "back") by \(abs(seconds)) s"
                )
            )
        }
    }

    /// See ``RateLimiter/agrees(with:sent:)``.
    mutating func agrees(with date: String?, sent: Duration, received: Duration) throws(StopReason) -> Bool {
        guard let ledger, let date = HTTPDate.ofServer(date) else { return true }
        let earliest = ledger.reading + (sent - ledger.answered)
        let latest = ledger.reading + (received - ledger.asked)
        let ahead = date < earliest ? earliest - date : min(latest - date, .zero)
        guard abs(ahead.components.seconds) > Self.tolerance.components.seconds else {
            oddDates = 0
            return true
        }
        oddDates += 1
        guard oddDates < Self.patience else {
            let seconds = ahead.components.seconds
            let sentence =
                "PostgreSQL's clock is \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") the Date header of Apple's answers"
            throw .clocks(FailureReport(message: sentence))
        }
        return false
    }
}
