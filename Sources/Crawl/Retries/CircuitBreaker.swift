/// Ends a run in which too much fails, because the cause is then not in single items.
///
/// It is a value without clock or lock. Its owner reports every event to it.
package struct CircuitBreaker: Sendable {
    /// Why the run must end.
    ///
    /// The first cause is kept.
    package private(set) var tripped: StopReason?

    private let stopsForRejects: Bool
    private var verification = VerificationFailures()
    private var firstPages = FirstPages()
    private var requests = RecentRequests()
    private var unknownCodes: [Int64: Int] = [:]

    /// - Parameter stopsForRejects: Whether scattered verification failures trip the breaker. First pages whose records
    ///   are all rejected always trip it.
    package init(stopsForRejects: Bool = true) {
        self.stopsForRejects = stopsForRejects
    }

    /// Records a page that was verified, normalized and committed.
    ///
    /// Records that this or an earlier run has already rejected do not count.
    ///
    /// - Parameters:
    ///   - records: Records of the page.
    ///   - rejected: Rejected records, including those rejected before.
    ///   - newReasons: The reason of each record that was rejected for the first time.
    ///   - verificationFailures: The records rejected for the first time whose signature, chain or claims are invalid.
    package mutating func note(pageOf records: Int, rejected: Int, newReasons: [String], verificationFailures: Int) {
        verification.note(records: records, failures: verificationFailures)
        trip(firstPages.note(records: records, rejected: rejected, newReasons: newReasons))
        if verification.records >= VerificationFailures.leastRecords { checkVerification() }
    }

    /// Records the end of the crawl.
    ///
    /// The share of rejected records is now checked even if there are few.
    package mutating func noteEnd() {
        checkVerification()
    }

    private mutating func checkVerification() {
        guard stopsForRejects, tripped == nil, let sentence = verification.excess else { return }
        tripped = .manyRejected(FailureReport(message: sentence))
    }

    /// Records a request.
    ///
    /// - Parameters:
    ///   - endedInRetry: Whether it returned no page and is sent again. Do not record a 429, because it is not a
    ///     failure.
    ///   - now: On `Timekeeper.monotonic`.
    package mutating func note(requestThatEndedInRetry endedInRetry: Bool, at now: Duration) {
        trip(requests.note(endedInRetry: endedInRetry, at: now))
    }

    /// Records a failed item; only unknown error codes count.
    package mutating func note(failedItem report: FailureReport) {
        guard report.isUnknownCode else { return }
        // 0 stands for answers without a code; Apple has no code 0.
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

/// Trips when at least 20 records, and 5% of all, failed verification for the first time.
private struct VerificationFailures: Sendable {
    /// Fewer records are checked only at the end of the crawl: 20 bad records of one customer among the first 50 do not
    /// show a general problem.
    static let leastRecords = 1_000
    private static let leastFailures = 20

    private(set) var records = 0
    private var failures = 0

    mutating func note(records newRecords: Int, failures newFailures: Int) {
        records += newRecords
        failures += newFailures
    }

    /// A sentence if too many records failed.
    var excess: String? {
        guard failures >= Self.leastFailures, failures * 20 >= records else { return nil }
        return "\(failures) of \(records) signed records failed verification for the first time; the limit is 1 in 20"
    }
}

/// Trips when every record of the first five pages with records was rejected for the same reason.
///
/// A page whose records had all been rejected before does not count.
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

/// Trips when more than half of the requests of five minutes, and at least 50 requests, ended in a retry.
private struct RecentRequests: Sendable {
    /// The requests of ten seconds.
    ///
    /// There are 30 slots at any speed.
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
        return "\(retried) of the last \(requests) requests returned no page; the limit is half of 5 minutes' requests"
    }
}
