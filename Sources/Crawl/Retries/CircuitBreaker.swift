/// Ends a run in which too much fails: then the cause is not in single items.
///
/// A value without clock or lock; whoever holds it tells it what happened.
package struct CircuitBreaker: Sendable {
    /// Why the run must end; the first cause stays.
    package private(set) var tripped: StopReason?

    private let stopsForRejects: Bool
    private var verification = VerificationFailures()
    private var firstPages = FirstPages()
    private var requests = RecentRequests()
    private var unknownCodes: [Int64: Int] = [:]

    /// - Parameter stopsForRejects: Whether scattered failures of verification trip it; first pages of which every
    ///   record is rejected always do.
    package init(stopsForRejects: Bool = true) {
        self.stopsForRejects = stopsForRejects
    }

    /// Notes a page that was verified, normalised and committed.
    ///
    /// What was rejected before, by this or an earlier run, speaks neither for nor against going on.
    ///
    /// - Parameters:
    ///   - records: Records of the page.
    ///   - rejected: Those that were not loaded, known or not.
    ///   - newReasons: The reason of each of them that was not known as rejected.
    ///   - verificationFailures: Of the new ones, those whose signature, chain or claims did not hold.
    package mutating func note(pageOf records: Int, rejected: Int, newReasons: [String], verificationFailures: Int) {
        verification.note(records: records, failures: verificationFailures)
        trip(firstPages.note(records: records, rejected: rejected, newReasons: newReasons))
        if verification.records >= VerificationFailures.leastRecords { judgeVerification() }
    }

    /// Notes that nothing more comes: now fewer records are judged, too.
    package mutating func noteEnd() {
        judgeVerification()
    }

    private mutating func judgeVerification() {
        guard stopsForRejects, tripped == nil, let sentence = verification.verdict else { return }
        tripped = .manyRejected(FailureReport(message: sentence))
    }

    /// Notes a request.
    ///
    /// - Parameters:
    ///   - endedInRetry: Whether it gave no page and is sent again. A 429 is waiting, not failing: do not note it.
    ///   - now: On `Timekeeper.monotonic`.
    package mutating func note(requestThatEndedInRetry endedInRetry: Bool, at now: Duration) {
        trip(requests.note(endedInRetry: endedInRetry, at: now))
    }

    /// Notes an item that failed; only codes unknown to our table count.
    package mutating func note(failedItem report: FailureReport) {
        guard report.isUnknownCode else { return }
        // No Apple code is 0: it stands for answers without one.
        let count = unknownCodes[report.code ?? 0, default: 0] + 1
        unknownCodes[report.code ?? 0] = count
        guard count > 50 else { return }
        trip("\(count) items failed with the same unknown answer, \(report)")
    }

    private mutating func trip(_ sentence: String?) {
        guard tripped == nil, let sentence else { return }
        tripped = .contractBroken(FailureReport(message: sentence))
    }
}

/// At least 20 records that were met for the first time, and 5% of all that came, failed verification.
private struct VerificationFailures: Sendable {
    /// Fewer are judged only when nothing more comes: one customer's twenty bad records among the first fifty say nothing
    /// about the store.
    static let leastRecords = 1_000
    private static let leastFailures = 20

    private(set) var records = 0
    private var failures = 0

    mutating func note(records newRecords: Int, failures newFailures: Int) {
        records += newRecords
        failures += newFailures
    }

    var verdict: String? {
        guard failures >= Self.leastFailures, failures * 20 >= records else { return nil }
        return "\(failures) of \(records) signed records failed verification for the first time; fewer than 1 in 20 may"
    }
}

/// Every record of the first five pages that had any was rejected for one and the same reason.
///
/// A page of which every record was known as rejected counts as none.
private struct FirstPages: Sendable {
    private var pages = 0
    private var reason: String?
    private var isDisarmed = false

    mutating func note(records: Int, rejected: Int, newReasons: [String]) -> String? {
        guard !isDisarmed, records > 0 else { return nil }
        guard rejected >= records else {
            isDisarmed = true
            return nil
        }
        guard !newReasons.isEmpty else { return nil }
        let reasons = Set(newReasons).union(reason.map { [$0] } ?? [])
        guard let only = reasons.first, reasons.count == 1 else {
            isDisarmed = true
            return nil
        }
        reason = only
        pages += 1
        guard pages == 5 else { return nil }
        isDisarmed = true
        return "Every record of the first 5 pages was rejected for the same reason, \(only)"
    }
}

/// More than half of the requests of five minutes, at least 50, ended in a retry.
private struct RecentRequests: Sendable {
    /// Requests of ten seconds: 30 counters, however fast the run is.
    private struct Slot: Sendable {
        let number: Int64
        var requests = 0
        var retried = 0
    }

    private var slots: [Slot] = []

    mutating func note(endedInRetry: Bool, at now: Duration) -> String? {
        let number = now.components.seconds / 10
        slots.removeAll { $0.number <= number - 30 }
        if slots.last?.number != number { slots.append(Slot(number: number)) }
        slots[slots.count - 1].requests += 1
        if endedInRetry { slots[slots.count - 1].retried += 1 }

        let requests = slots.reduce(0) { $0 + $1.requests }
        let retried = slots.reduce(0) { $0 + $1.retried }
        guard requests >= 50, retried * 2 > requests else { return nil }
        return "\(retried) of the last \(requests) requests gave no page; more than half of 5 minutes' may not"
    }
}
