/// Ends a run in which too much fails, because the cause then affects every item.
///
/// It is a value without clock or lock. Its owner reports every event to it.
package struct CircuitBreaker: Sendable {
    /// Why the run must end; `nil` while it may continue.
    ///
    /// The first reason is kept.
    package private(set) var stopReason: StopReason?

    private let stopsForRejects: Bool
    private var verification = VerificationFailures()
    private var firstPages = FirstPages()
    private var requests = RecentRequests()
    private var unknownCodes: [Int64: Int] = [:]

    /// - Parameter stopsForRejects: Whether too large a share of failed verifications trips the breaker. First
    ///   pages whose records are all rejected always trip it.
    package init(stopsForRejects: Bool = true) {
        self.stopsForRejects = stopsForRejects
    }

    /// Records a page that was verified, normalised and committed.
    ///
    /// Records that were rejected before, in this or an earlier run, do not count.
    ///
    /// - Parameters:
    ///   - records: The number of records on the page.
    ///   - rejected: The number of rejected records, including those rejected before.
    ///   - newReasons: The reason of each record that was rejected for the first time.
    ///   - verificationFailures: How many of the records rejected for the first time have an invalid signature, chain or
    ///     claim.
    package mutating func notePage(records: Int, rejected: Int, newReasons: [String], verificationFailures: Int) {
        verification.note(records: records, failures: verificationFailures)
        trip(firstPages.note(records: records, rejected: rejected, newReasons: newReasons))
        if verification.records >= VerificationFailures.minimumRecords { checkVerification() }
    }

    /// Records the end of the crawl.
    ///
    /// The share of rejected records is now checked even if there are few.
    package mutating func noteEnd() {
        checkVerification()
    }

    private mutating func checkVerification() {
        guard stopsForRejects, stopReason == nil, let sentence = verification.complaint else { return }
        stopReason = .manyRejected(FailureReport(message: sentence))
    }

    /// Records a request.
    ///
    /// - Parameters:
    ///   - failed: Whether it returned no page, so that it has to be sent again. Do not record a 429, because it is not
    ///     a failure.
    ///   - now: On `Timekeeper.monotonic`.
    ///   - report: Why it failed, for the message.
    package mutating func noteRequest(failed: Bool, at now: Duration, because report: FailureReport? = nil) {
        let last = report.map { "; the last one: \($0)" } ?? ""
        trip(requests.note(failed: failed, at: now).map { $0 + last })
    }

    /// Records a failed item; only unknown error codes and 403 count.
    ///
    /// Many items with 403 mean that Apple refuses the key for a whole stream.
    package mutating func noteFailedItem(_ report: FailureReport) {
        guard report.isUnknownCode else { return }
        // 0 stands for answers without a code; Apple has no code 0.
        let count = unknownCodes[report.code ?? 0, default: 0] + 1
        unknownCodes[report.code ?? 0] = count
        guard count > 50 else { return }
        let sentence = "\(count) items failed with the same unknown answer, \(report)"
        guard stopReason == nil, report.status == 403 else { return trip(sentence) }
        stopReason = .credentials(FailureReport(message: sentence))
    }

    private mutating func trip(_ sentence: String?) {
        guard stopReason == nil, let sentence else { return }
        stopReason = .contractBroken(FailureReport(message: sentence))
    }
}

/// Trips when at least 20 records, and 5% of all, failed verification for the first time.
private struct VerificationFailures: Sendable {
    /// With fewer records, the share is checked only at the end of the crawl: 20 bad records of one customer among the
    /// first 50 do not show a general problem.
    static let minimumRecords = 1_000
    private static let minimumFailures = 20

    private(set) var records = 0
    private var failures = 0

    mutating func note(records newRecords: Int, failures newFailures: Int) {
        records += newRecords
        failures += newFailures
    }

    /// A sentence if too many records failed.
    var complaint: String? {
        guard failures >= Self.minimumFailures, failures * 20 >= records else { return nil }
        return "\(failures) of \(records) signed records failed verification for the first time, "
            + "which is 1 in 20 or more"
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
        guard let commonReason = reasons.first, reasons.count == 1 else {
            isDisarmed = true
            return nil
        }
        reason = commonReason
        pages += 1
        guard pages == 5 else { return nil }
        isDisarmed = true
        let key = ["environment": "app.environment", "app_id": "app.appAppleId", "bundle": "app.bundleId"][commonReason]
        let remedy = key.map { "; compare \($0) in the job file" } ?? ""
        return "Every record of the first 5 pages was rejected for the same reason, \(commonReason)\(remedy)"
    }
}

/// Trips when five minutes have at least 50 requests, and more than half of them failed.
private struct RecentRequests: Sendable {
    /// The requests of ten seconds.
    ///
    /// There are at most 30 slots, however many requests are sent.
    private struct Slot: Sendable {
        /// The slot's ten seconds, counted from zero of `Timekeeper.monotonic`.
        let number: Int64
        var requests = 0
        var failures = 0
    }

    private var slots: [Slot] = []

    mutating func note(failed: Bool, at now: Duration) -> String? {
        let number = now.components.seconds / 10
        slots.removeAll { $0.number <= number - 30 }
        if slots.last?.number != number { slots.append(Slot(number: number)) }
        slots[slots.count - 1].requests += 1
        if failed { slots[slots.count - 1].failures += 1 }

        let requests = slots.reduce(0) { $0 + $1.requests }
        let failures = slots.reduce(0) { $0 + $1.failures }
        guard requests >= 50, failures * 2 > requests else { return nil }
        return "\(failures) of the \(requests) requests of the last 5 minutes returned no page, "
            + "which is more than half"
    }
}
