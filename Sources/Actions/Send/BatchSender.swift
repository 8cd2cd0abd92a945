import ActionKinds
import AppStoreAPI
import AppStoreModel
import Basics
import Crawl
import JobFiles
import Ledger
import RateLimit
import StrictJSON
import Synchronization

/// Sends the rows of one approved batch.
///
///     lease ─► permit ─► intent committed ─► send ─► outcome committed
///
/// A row whose answer was lost is sent again with the same ID, and then, if the action needs it, read back.
struct BatchSender: Sendable {
    let queue: RowQueue
    let server: AppleServer
    let limiters: [StreamName: RateLimiter]
    let time: Timekeeper
    /// How long Apple's data may take to show an applied request.
    let settleTime: Duration
    /// ``JobFiles/ActionJob/policySHA256`` of the job file as it is now.
    let policy: @Sendable () throws -> String?
    /// When answers with 401 end the run.
    let keyPatience: KeyPatience
    let report: @Sendable (ActionEvent) -> Void

    let watch: Watch
    let leases: LeaseKeeper<HeldRow>

    /// What all workers of this process share.
    final class Watch: Sendable {
        let rejections: Mutex<RejectionWatch>
        let breaker = Mutex(CircuitBreaker())
        let quota = SharedRetryQuota()
        let stop = SendingStop()
        let lists = ReviewLists()

        init(_ rejections: RejectionWatch) { self.rejections = Mutex(rejections) }
    }

    init(
        queue: RowQueue,
        server: AppleServer,
        limiters: [StreamName: RateLimiter],
        rejections: RejectionWatch,
        settleTime: Duration,
        keyPatience: KeyPatience,
        time: Timekeeper,
        policy: @escaping @Sendable () throws -> String?,
        report: @escaping @Sendable (ActionEvent) -> Void
    ) {
        self.policy = policy
        self.queue = queue
        self.server = server
        self.limiters = limiters
        self.settleTime = settleTime
        self.keyPatience = keyPatience
        self.time = time
        self.report = report
        watch = Watch(rejections)
        leases = LeaseKeeper(time: time) { try await queue.renew($0) }
    }

    /// Makes ``send(concurrency:)`` return when the requests in progress have been answered.
    ///
    /// No request is sent afterwards.
    func stop() { watch.stop.request() }

    var action: any AppStoreAction.Type { queue.actions.job.action }

    /// Sends rows until none is left for this run, or until ``stop()``.
    ///
    /// Waits for the rows that other processes have leased: a row of a killed process becomes available when its lease
    /// expires.
    ///
    /// An error of one row ends the run when the other requests in progress have been answered.
    ///
    /// - Throws: ``ActionStop`` when the run must end, `CancellationError`, errors of the ledger.
    func send(concurrency: Int) async throws {
        let stop = watch.stop
        let feed = RowFeed(queue: queue, leases: leases, batch: concurrency, time: time) { stop.isRequested }
        let leases = leases
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await leases.run() }
            group.addTask {
                try await withBoundedWorkers(width: concurrency, next: { try await feed.next() }) { row in
                    do {
                        try await sendOrGiveUp(row)
                    } catch is SendingStopped {
                        // The row is released with all others of this process.
                    } catch let error where !(error is CancellationError) {
                        stop.request(because: error)
                    }
                }
            }
            defer { group.cancelAll() }
            // The renewal of leases ends only with an error.
            try await group.next()
        }
        if let cause = stop.cause { throw cause }
    }

    private func sendOrGiveUp(_ row: LeasedRow) async throws {
        do {
            guard try await isReady(row) else { return }
            try await send(row)
        } catch is RowLeaseLost {
            // Another process has the row and decides about it, or it may not be sent.
            try await giveUp(row)
        } catch is ConsentWithdrawn {
            close(row, try await queue.endWithoutConsent(row))
        } catch let disagreement as ClockDisagreement {
            throw ActionStop.clocks(sentence: disagreement.sentence)
        }
    }

    /// Sends one row until it has an outcome, or until this run leaves it unknown.
    private func send(_ leased: LeasedRow) async throws {
        guard !leased.isLate else { return try await giveUp(leased) }
        var row = leased
        var attempts = 1
        var refusals = 0
        let endpoint = action.endpoint(of: row.parameters)
        if action.followUpRequest(row.parameters, answer: row.answer ?? JSONObject()) != nil {
            return try await follow(row)
        }
        let request = try withBody(action.request(row.parameters, id: row.requestIDText))
        while true {
            var purpose: AttemptPurpose = row.mayBeApplied ? .repeating : .send
            if row.mayBeApplied, action.readBack(of: row.parameters)?.precedesRepeat == true {
                let isApproved = try await queue.isApproved()
                guard try await readBack(row, provesAbsence: !isApproved, precedesRepeat: isApproved) else { return }
                // Apple has none of the row's requests, so the next one is the first.
                purpose = .send
            }
            let (attempt, result) = try await attempt(row, purpose, request, endpoint: endpoint)
            refusals = result.refusedToken == nil ? 0 : refusals + 1
            let decision = AttemptDecision(
                result,
                mayBeApplied: row.mayBeApplied,
                refusal: { self.decision(on: $0, refusals: refusals) },
                action: action,
                row: row.parameters
            )
            switch decision {
            case .succeeded(let kept) where action.followUpRequest(row.parameters, answer: kept) != nil:
                note(failed: false)
                row.mayBeApplied = true
                row.answer = kept
                try await keepOpen(row, attempt, result, kept: kept)
                return try await follow(row)
            case .succeeded(let kept):
                note(failed: false)
                return try await end(row, attempt, result, .succeeded, kept: kept)
            case .rejected(let report):
                note(failed: false)
                return try await end(row, attempt, result, .rejected, message: report.message)
            case .refused(let errors):
                note(failed: false)
                let (kept, message, code) = (errors.kept, errors.message, errors.code)
                return try await end(row, attempt, result, .rejected, kept: kept, message: message, code: code)
            case .readBack(let kept, let isRefused):
                note(failed: false)
                // Apple can know the ID of a request that this ledger has lost.
                row.mayBeApplied = true
                row.answer = kept ?? row.answer
                try await keepOpen(row, attempt, result, kept: kept)
                _ = try await readBack(row, provesAbsence: isRefused)
                return
            case .waitForApple(let retryAfter, let date):
                try await keepOpen(row, attempt, result)
                report(.closed(endpoint, try await limiter(endpoint).close(retryAfter: retryAfter, date: date)))
            case .repeatRefused:
                try await keepOpen(row, attempt, result)
                try await pause(afterRefusal: refusals, of: endpoint, result)
            case .leave(let report):
                return try await leave(row, attempt, result, report)
            case .retryAtOnce:
                try await keepOpen(row, attempt, result)
            case .retry(let retry, let failure):
                guard try await pause(attempts, retry, failure, { try await keepOpen(row, attempt, result) }) else {
                    // Apple did not apply this attempt, so the next run can send the row again.
                    return try await leave(row, attempt, result, failure)
                }
                attempts += 1
            case .outcomeUnknown(let failure):
                row.mayBeApplied = true
                guard try await pause(attempts, .ordinary, failure, { try await keepOpen(row, attempt, result) }) else {
                    try await keepOpen(row, attempt, result)
                    _ = try await readBack(row, provesAbsence: false)
                    return
                }
                attempts += 1
            case .stop(let stop):
                try await leave(row, attempt, result, nil)
                throw stop
            }
        }
    }

    /// Waits for a permit, commits the intent, and sends the request once.
    ///
    /// If the permit expires before the intent is committed, the result is ``WriteFailure/tooLate``.
    ///
    /// - Throws: ``RowLeaseLost`` when the lease is no longer safe or the row may not be sent, ``SendingStopped`` after ``stop()``,
    ///   ``ActionRefusal/policyChanged(approved:found:)``: then nothing was sent. ``ClockDisagreement``, errors of the ledger and of
    ///   ``policy``.
    func attempt(
        _ row: LeasedRow,
        _ purpose: AttemptPurpose,
        _ request: AppStoreRequest,
        endpoint: StreamName
    ) async throws -> (Int32, SendResult) {
        let limiter = try limiter(endpoint)
        while true {
            let permit = try await watch.stop.wait { try await limiter.permit() }
            // The lease can expire during the wait for the limit. Then nothing is sent.
            guard leases.holds(row.lease) else { throw RowLeaseLost() }
            crashPoint(.intentWanted)
            // The file can have changed during the wait, too. It is read for a policy only.
            let policy = queue.batch.policySHA256 == nil ? nil : try policy()
            guard let attempt = try await queue.recordIntent(row, purpose, request, policy: policy) else {
                try await pause(settleTime / 8)
                continue
            }
            return (attempt, try await send(request, permit, limiter))
        }
    }

    /// Sends a request whose intent is committed.
    private func send(
        _ request: AppStoreRequest,
        _ permit: Permit,
        _ limiter: RateLimiter
    ) async throws -> SendResult {
        crashPoint(.intentCommitted)
        let sent = time.monotonic()
        let result = try await server.send(request, departingBy: permit.departsBy)
        crashPoint(.writeAnswered)
        if case .answered(let written) = result {
            _ = try await limiter.agrees(with: written.answer.date, sent: sent)
        }
        return result
    }

    /// Reads Apple's data until it shows the outcome, or leaves the row unknown.
    ///
    /// - Parameters:
    ///   - row: A row that may have been applied.
    ///   - provesAbsence: Whether data that does not show a request proves, after ``settleTime``, that none was applied: Apple refused
    ///     the repeated request, or says which requests it has.
    ///   - precedesRepeat: Whether the request is sent again if no request was applied.
    /// - Returns: Whether no request was applied, and the row is still open; only with `precedesRepeat`.
    /// - Throws: As ``send(_:)``.
    private func readBack(
        _ row: LeasedRow,
        provesAbsence: Bool,
        precedesRepeat: Bool = false
    ) async throws -> Bool {
        let subject = action.subject(of: row.parameters) ?? ""
        guard let readBack = action.readBack(of: row.parameters) else {
            try await leaveUnknown(row, "Apple's data does not show the outcome of this action")
            return false
        }
        let firstReading = time.monotonic()
        var reading = 1
        var refusals = 0
        while true {
            let request = readBack.request(of: row.id(for: readBack, subject: subject))
            let asked = time.monotonic()
            let (attempt, result) = try await attempt(row, .readBack, request, endpoint: readBack.endpoint)
            refusals = result.refusedToken == nil ? 0 : refusals + 1
            var failure = "Apple's data could not be read"
            let evidence = try await evidence(of: row, in: result, readBack, subject: subject)
            switch evidence?.found {
            case .applied(let place):
                try await end(row, attempt, result, .succeeded, kept: evidence?.kept, confirmedBy: place)
                return false
            case .inReview(let list):
                try await beginReview(of: row, attempt, result, in: list, asked: asked)
                return false
            case .notApplied where precedesRepeat:
                try await keepOpen(row, attempt, result)
                return true
            case .notApplied(let sentence) where provesAbsence && time.monotonic() - firstReading >= settleTime:
                try await end(row, attempt, result, .notApplied, message: sentence, confirmedBy: sentence)
                return false
            case .notApplied(let sentence), .undecided(let sentence): failure = sentence
            case nil: break
            }
            switch result {
            case .answered(let written) where written.answer.status == 429:
                try await keepOpen(row, attempt, result)
                let limiter = try limiter(readBack.endpoint)
                let (retryAfter, date) = (written.answer.retryAfter, written.answer.date)
                report(.closed(readBack.endpoint, try await limiter.close(retryAfter: retryAfter, date: date)))
                continue
            case .answered(let written) where written.answer.status == 401:
                let verdict = self.decision(on: written.answer, refusals: refusals)
                if case .endsRun(let report) = verdict {
                    try await leave(row, attempt, result, nil)
                    throw ActionStop.credentials(report)
                }
                try await keepOpen(row, attempt, result)
                if case .leavesRequest(let report) = verdict {
                    try await leaveUnknown(row, report.message)
                    return false
                }
                try await pause(afterRefusal: refusals, of: readBack.endpoint, result)
                continue
            case .answered, .failed: break
            }
            try await keepOpen(row, attempt, result)
            guard reading < RetryBackoff.attemptsPerPage else {
                try await leaveUnknown(row, failure)
                return false
            }
            // The last readings are at least one settle time after the first.
            try await pause(settleTime / Double(RetryBackoff.attemptsPerPage - 2))
            reading += 1
        }
    }

    /// What Apple's answer says about a row, and what is then kept with it; `nil` for an answer that says nothing.
    private func evidence(
        of leased: LeasedRow,
        in result: SendResult,
        _ readBack: ActionReadBack,
        subject: String
    ) async throws -> (found: Evidence, kept: JSONObject?)? {
        guard case .answered(let written) = result else { return nil }
        if let found = Evidence(of: leased, inUnsignedAnswer: written, readBack) { return (found, nil) }
        // Data that cannot be verified proves nothing, so it is read again.
        guard written.answer.status == 200, let records = try? server.records(in: written.body, of: readBack) else {
            return nil
        }
        var row = leased
        if readBack == .expiresDate, try await queue.hasOtherExtension(subject) { row.expiresDateBefore = nil }
        let found = Evidence(of: row, in: records, readBack, subject: subject)
        return (found, Evidence.kept(of: row, in: records, readBack, subject: subject))
    }

    /// What follows from a 401.
    ///
    /// - Parameters:
    ///   - answer: With status 401.
    ///   - refusals: The 401s in a row for the request, including this one.
    func decision(on answer: HTTPAnswer, refusals: Int) -> KeyPatience.Decision {
        keyPatience.decision(on: answer, refusals: refusals, now: UnixMilliseconds(rawValue: time.wallClock()))
    }

    /// Waits until a request that was answered 401 is sent again.
    func pause(afterRefusal refusal: Int, of endpoint: StreamName, _ result: SendResult) async throws {
        if let answer = result.refusedToken { report(.retrying(endpoint, answer.report)) }
        try await pause(KeyPatience.pause(afterRefusal: refusal, random: time.random()))
    }

    /// Waits before the next attempt.
    ///
    /// - Returns: `false` if the row has had all of its attempts in this run.
    private func pause(
        _ attempts: Int,
        _ retry: Retry,
        _ failure: FailureReport,
        _ recording: () async throws -> Void
    ) async throws -> Bool {
        let mayRetry = note(failed: true, failure) && attempts < retry.attempts
        guard mayRetry else { return false }
        report(.retrying(action.name, failure))
        try await recording()
        try await pause(retry.backoff.delay(afterAttempt: attempts, random: time.random()))
        return true
    }

    /// Counts the outcome of a request for the circuit breaker, which can stop the run, and the retry quota.
    ///
    /// - Returns: Whether another retry is allowed; `true` for a request that did not fail.
    @discardableResult
    private func note(failed: Bool, _ failure: FailureReport? = nil) -> Bool {
        let stop = watch.breaker.withLock { breaker in
            breaker.noteRequest(failed: failed, at: time.monotonic(), because: failure)
            return breaker.stopReason
        }
        if let stop { watch.stop.request(because: ActionStop.contractBroken(stop.report)) }
        guard failed else {
            watch.quota.succeeded()
            return true
        }
        return watch.quota.payForRetry()
    }

    /// Waits; a stop ends the wait.
    func pause(_ duration: Duration) async throws {
        let time = time
        try await watch.stop.wait { try await time.sleep(duration) }
    }

    func limiter(_ endpoint: StreamName) throws -> RateLimiter {
        guard let limiter = limiters[endpoint] else { throw LedgerError.invariant("no limit for \(endpoint.rawValue)") }
        return limiter
    }
}

extension BatchSender {
    /// Records the outcome of a row.
    func end(
        _ row: LeasedRow,
        _ attempt: Int32,
        _ result: SendResult,
        _ state: RowState,
        kept: JSONObject? = nil,
        message: String? = nil,
        code: Int64? = nil,
        confirmedBy: String? = nil
    ) async throws {
        var change = RowChange(result: result.record, state: state, mayBeApplied: false)
        if let message { change.result.message = message }
        if let code { change.result.code = code }
        change.kept = kept
        change.confirmedBy = confirmedBy
        change.isEnd = true
        change.releases = true
        try await queue.record(change, of: row, attempt: attempt)
        leases.remove(row.lease)
        crashPoint(.writeRecorded)
        try noteEnd(of: row, state)
    }

    /// Reports the state of a row that this process has given up, and counts a known outcome.
    ///
    /// - Throws: ``ActionStop/tooManyRejections(sentence:)``.
    func noteEnd(of row: LeasedRow, _ state: RowState) throws {
        report(.ended(position: row.position, state: state))
        guard [.succeeded, .rejected, .notApplied].contains(state) else { return }
        let sentence = watch.rejections.withLock { $0.note(isRejected: state == .rejected) }
        if let sentence { throw ActionStop.tooManyRejections(sentence: sentence) }
    }

    /// Records an attempt after which this process continues with the row.
    func keepOpen(
        _ row: LeasedRow,
        _ attempt: Int32,
        _ result: SendResult,
        kept: JSONObject? = nil
    ) async throws {
        let state: RowState = row.mayBeApplied ? .confirming : .approved
        var change = RowChange(result: result.record, state: state, mayBeApplied: row.mayBeApplied)
        change.kept = kept
        try await queue.record(change, of: row, attempt: attempt)
        crashPoint(.writeRecorded)
    }

    /// Leaves a row to the next run after an attempt that changed nothing at Apple.
    func leave(_ row: LeasedRow, _ attempt: Int32, _ result: SendResult, _ failure: FailureReport?) async throws {
        let state: RowState = row.mayBeApplied ? .unknown : .approved
        var change = RowChange(result: result.record, state: state, mayBeApplied: row.mayBeApplied)
        if let failure { change.result.message = failure.message }
        change.releases = true
        try await queue.record(change, of: row, attempt: attempt)
        leases.remove(row.lease)
        report(.ended(position: row.position, state: state))
    }

    /// Leaves a row unknown until the next run.
    func leaveUnknown(_ row: LeasedRow, _ reason: String) async throws {
        var change = RowChange(result: RowChange.Result(message: reason), state: .unknown, mayBeApplied: true)
        change.releases = true
        // The last attempt is recorded already. No attempt has the number 0, so this changes only the row.
        try await queue.record(change, of: row, attempt: 0)
        leases.remove(row.lease)
        report(.ended(position: row.position, state: .unknown))
    }

    /// Ends or gives back a row that may not be sent, if this process still has its lease.
    private func giveUp(_ row: LeasedRow) async throws {
        close(row, try await queue.giveUp(row))
    }

    /// Gives up the lease of a row that was ended or given back without a request.
    private func close(_ row: LeasedRow, _ state: RowState?) {
        guard let state else { return }
        leases.remove(row.lease)
        report(.ended(position: row.position, state: state))
    }
}

extension LeasedRow {
    fileprivate var requestIDText: String { UUIDText.text(of: requestID) }
}

extension SendResult {
    /// Apple's 401; `nil` for any other result.
    var refusedToken: HTTPAnswer? {
        guard case .answered(let written) = self, written.answer.status == 401 else { return nil }
        return written.answer
    }

    /// What the ledger records of the result.
    var record: RowChange.Result {
        switch self {
        case .answered(let written):
            let message = written.answer.message
            return RowChange.Result(
                status: written.answer.status,
                code: written.answer.errorCode,
                message: message.isEmpty ? nil : message,
                body: written.body
            )
        case .failed(.notSent(detail: let detail)): return RowChange.Result(message: "not sent: \(detail)")
        case .failed(.tooLate): return RowChange.Result(message: "not sent: the permit had expired")
        case .failed(.tls(detail: let detail)): return RowChange.Result(message: "not sent: \(detail)")
        case .failed(.lost(detail: let detail)): return RowChange.Result(message: "no answer: \(detail)")
        }
    }
}
