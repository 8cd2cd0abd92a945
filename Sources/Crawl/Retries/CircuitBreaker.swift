/// Ends a run in which too much fails: then the cause is not in single items.
///
/// A value without clock or lock; whoever holds it tells it what happened.
package struct CircuitBreaker: Sendable {
    /// Why the run must end; the first cause stays.
    package private(set) var tripped: StopReason?

    private var verification = VerificationFailures()
    private var firstPages = FirstPages()
    private var requests = RecentRequests()
    private var unknownCodes: [Int64: Int] = [:]

    package init() {}

    /// Notes a page that was verified and normalised.
    ///
    /// - Parameters:
    ///   - records: Records of the page.
    ///   - verificationFailures: Those whose signature, chain or claims did not hold.
    ///   - rejections: The reason of every record that was not loaded, whatever it was.
    package mutating func note(pageOf records: Int, verificationFailures: Int, rejections: [String]) {
        trip(verification.note(records: records, failures: verificationFailures))
        trip(firstPages.note(records: records, rejections: rejections))
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

/// At least 20 records of a run, and 5% of them, failed verification.
private struct VerificationFailures: Sendable {
    private var records = 0
    private var failures = 0

    mutating func note(records newRecords: Int, failures newFailures: Int) -> String? {
        records += newRecords
        failures += newFailures
        guard failures >= 20, failures * 20 >= records else { return nil }
        return "\(failures) of \(records) signed records failed verification; fewer than 1 in 20 may"
    }
}

/// Every record of the first five pages that had any was rejected for one and the same reason.
private struct FirstPages: Sendable {
    private var pages = 0
    private var reason: String?
    private var isDisarmed = false

    mutating func note(records: Int, rejections: [String]) -> String? {
        guard !isDisarmed, records > 0 else { return nil }
        let reasons = Set(rejections).union(reason.map { [$0] } ?? [])
        guard rejections.count >= records, let only = reasons.first, reasons.count == 1 else {
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
