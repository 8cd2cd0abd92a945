package import Actions
import AppStoreModel
import Basics
import HTTPTransport
package import JobFiles
import JobSyntax
import RateLimit

extension ActionPipeline {
    /// Answers new refund requests by the approved policy until the approval of the policy ends.
    ///
    ///     new request ─► plan ─► approve by the policy's approval ─► send ─► next request
    ///
    /// Each round plans at most one batch. It then sends all batches of the last day with rows left, including batches
    /// of a killed process. No result files are written, because a set of result files contains one batch.
    ///
    /// - Parameters:
    ///   - limit: Stop after this time; the exit code is 75 only if rows are left.
    ///   - reload: Reads the job file again. A process never answers by a policy that the file no longer has.
    /// - Returns: The last batches that were sent, after a stop without rows left.
    /// - Throws: ``Actions/ActionRefusal`` when the approval of the policy has ended; errors that ``Failure/init(_:)`` explains.
    package func follow(
        maximumDuration limit: Duration?,
        reload: @escaping @Sendable () throws -> ActionJob,
        report: @escaping @Sendable (ActionEvent) -> Void
    ) async throws -> ActionRunReport {
        let began = time.monotonic()
        let credentials = try Credentials(job: job) { report(.remark($0)) }
        if job.appStore.isLoopback { report(.rehearsal("Rehearsal: requests go to \(job.appStore.baseURL)")) }
        let actions = try await actionsToSend(trusting: credentials.rootFingerprints)
        let approval = try await actions.policyInForce()
        report(
            .remark(
                "\(job.name): answering refund requests by policy \(approval.sha256), at most \(approval.rowsLeft) until \(approval.expiresAt.iso8601)"
            )
        )
        do {
            try await withDeadline(limit, since: began, time: time) {
                try await answer(actions, credentials, reload, report)
            }
        } catch let error where error is DeadlineReached || error is CancellationError {
            let open = await afterStop { try await actions.statuses(of: try await actions.openBatches()) }
            guard let open, open.isEmpty else {
                throw StoppedActions(limit: (error as? DeadlineReached)?.limit, batches: open)
            }
        }
        let last = await afterStop {
            try await actions.statuses(
                of: Array(try await actions.batches().prefix { $0.startedAt != nil }.prefix(Self.shown))
            )
        }
        return ActionRunReport(job: job.name, batches: last ?? [], files: [])
    }

    /// The most batches that the command shows at its end.
    private static let shown = 10

    /// Plans and sends until the approval of the policy has ended; then throws the refusal that says why.
    private func answer(
        _ actions: ActionLedger,
        _ credentials: Credentials,
        _ reload: @escaping @Sendable () throws -> ActionJob,
        _ report: @escaping @Sendable (ActionEvent) -> Void
    ) async throws {
        let transport = try CurlTransport(job.transportConfiguration(connections: job.limits.concurrency))
        defer { transport.shutdown() }
        let server = server(over: transport, credentials)
        let window = RateWindow(length: .seconds(job.limits.windowSeconds))
        let limiters = limiters(of: actions, window: window, report: report)
        // Ten seconds, and less with a shorter window, which only a server on loopback may have.
        let pause = window.grantLife
        var waits = Waits(batchPause: pause * 6, requestPause: pause * 60)
        var isUnreadable = false
        while true {
            try credentials.checkRoots()
            var ended: ActionRefusal?
            do {
                let plan = try await plan(actions, except: waits.requests(at: time.monotonic()), reload)
                isUnreadable = false
                for id in plan.sortedOut { waits.postpone(request: id, at: time.monotonic()) }
                if let batch = plan.batch {
                    report(.remark("\(job.name): batch \(batch.sha256) answers \(batch.rowsToSend) refund requests"))
                }
            } catch let refusal as ActionRefusal {
                // What is still approved is sent, and what can have been sent is found out.
                ended = refusal
            } catch let error where error is JobFileError || error is ActionInputError {
                // Another program can be writing the job file or the consents.
                if isUnreadable { throw error }
                isUnreadable = true
            }
            for batch in try await actions.openBatches() where !waits.postpones(batch, at: time.monotonic()) {
                do {
                    try await actions.send(
                        batch,
                        to: server,
                        limiters: limiters,
                        window: window,
                        time: time,
                        policy: { try reload().policySHA256 },
                        report: report
                    )
                } catch let error as JobFileError {
                    // Another program can be writing the job file. Nothing was sent without it.
                    if isUnreadable { throw error }
                    isUnreadable = true
                    break
                } catch let refusal as ActionRefusal {
                    // If the approval of the policy has ended too, this call throws the refusal that says why.
                    _ = try await actions.policyInForce()
                    switch refusal {
                    // Requests that have no answer because of it are in the next plan.
                    case .approvalEnded, .expired: break
                    default: throw refusal
                    }
                } catch ActionStop.credentials(let report) {
                    throw await refusedKey(report, of: actions, credentials)
                }
                // Otherwise every round would repeat the requests of rows that stay unknown.
                waits.postpone(batch: batch, at: time.monotonic())
            }
            if let ended { throw ended }
            try await time.sleep(pause)
        }
    }

    /// Plans the answers to new requests, if the job file still has the policy.
    private func plan(
        _ actions: ActionLedger,
        except skipped: Set<String>,
        _ reload: @Sendable () throws -> ActionJob
    ) async throws -> AnswerPlan {
        let found = try reload().policySHA256
        guard found == job.policySHA256 else {
            try await actions.endApprovals(ofOtherPoliciesThan: found)
            throw ActionRefusal.policyChanged(approved: job.policySHA256 ?? "none", found: found ?? "none")
        }
        return try await actions.planAnswers(except: skipped)
    }
}

/// Batches and requests that are not tried again in every round.
private struct Waits {
    /// How long a batch is not sent again, because some of its rows may be unknown.
    let batchPause: Duration
    /// How long a request that the ledger's records rule out is not planned again; new records can change that.
    let requestPause: Duration
    private var batches: [[UInt8]: Duration] = [:]
    private var ids: [String: Duration] = [:]

    init(batchPause: Duration, requestPause: Duration) {
        self.batchPause = batchPause
        self.requestPause = requestPause
    }

    mutating func postpone(request id: String, at now: Duration) { ids[id] = now + requestPause }

    /// The transaction IDs of the requests that are not planned now.
    mutating func requests(at now: Duration) -> Set<String> {
        ids = ids.filter { $0.value > now }
        return Set(ids.keys)
    }

    mutating func postpone(batch: ActionBatch, at now: Duration) {
        batches = batches.filter { $0.value > now }
        batches[batch.id] = now + batchPause
    }

    func postpones(_ batch: ActionBatch, at now: Duration) -> Bool { batches[batch.id].map { $0 > now } ?? false }
}
