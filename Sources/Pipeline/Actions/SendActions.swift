import ActionKinds
package import Actions
import AppStoreAPI
import AppStoreModel
package import Basics
import Crawl
import HTTPTransport
package import JobFiles
import Ledger
import Normalize
import Postgres
package import Publish
import RateLimit

/// The result of `actions run`, as one process reports it.
package struct ActionRunReport: Sendable {
    package let job: String
    package let batches: [BatchStatus]
    /// The files of the last batch; empty if the job publishes none.
    package let files: [Manifest.File]

    /// 0 if every sent row succeeded; 2 if rows were rejected, not applied or not sent in time, are unknown, or are left to send.
    package var exitStatus: ExitStatus {
        let states: [RowState] = [.rejected, .notApplied, .unknown, .confirming, .sending, .approved]
        let bad = batches.contains { batch in batch.rowsTooLate > 0 || states.contains { batch.count($0) > 0 } }
        return bad ? .completeWithLosses : .complete
    }
}

extension ActionPipeline {
    /// Sends what is approved, continues where an earlier process stopped, and finds out unknown outcomes.
    ///
    /// - Parameters:
    ///   - limit: Stop in an orderly way after this time, with 75 if work is left.
    ///   - reload: Reads the job file again. A process never answers by a policy that the file no longer has.
    /// - Returns: The batches that were sent, or the newest one if none was left to send.
    /// - Throws: Errors that ``Failure/init(_:)`` explains. The next start continues with the remaining rows.
    package func run(
        maximumDuration limit: Duration?,
        reload: @escaping @Sendable () throws -> ActionJob,
        report: @escaping @Sendable (ActionEvent) -> Void
    ) async throws -> ActionRunReport {
        let began = time.monotonic()
        let credentials = try Credentials(job: job) { report(.remark($0)) }
        if job.appStore.isLoopback { report(.rehearsal("Rehearsal: requests go to \(job.appStore.baseURL)")) }
        let actions = try await actionsToSend(trusting: credentials.rootFingerprints)
        try await actions.endApprovals(ofOtherPoliciesThan: job.policySHA256)
        let batches = try await actions.batchesToSend()
        let refusal: ActionRefusal?
        do {
            refusal = try await withDeadline(limit, since: began, time: time) {
                try await send(batches, of: actions, credentials, reload, report)
            }
        } catch let error where error is DeadlineReached || error is CancellationError {
            throw StoppedActions(
                limit: (error as? DeadlineReached)?.limit,
                batches: await afterStop { try await actions.statuses(of: batches) }
            )
        }
        // Read again, because sending has changed when the batches were started and finished.
        let all = try await actions.batches()
        let shown =
            batches.isEmpty ? Array(all.prefix(1)) : batches.compactMap { sent in all.first { $0.id == sent.id } }
        let statuses = try await actions.statuses(of: shown)
        var files: [Manifest.File] = []
        if let directory = job.resultsDirectory, let last = shown.last {
            if let other = Manifest.job(in: directory), other != job.name {
                report(
                    .remark(
                        "the result files of \(job.name) replace the result files of \(other) in \(directory). Give each job a separate directory (output.results.directory); storeledger actions results writes files again"
                    )
                )
            }
            files = try await writeResultsInTurn(of: last, in: actions, to: directory, credentials.rootFingerprints)
        }
        if let refusal { throw refusal }
        return ActionRunReport(job: job.name, batches: statuses, files: files)
    }

    /// Sends the batches one after the other.
    ///
    /// - Returns: The refusal of the first batch that could not be sent to its end; `nil` if all were. The others are sent
    ///   nevertheless.
    private func send(
        _ batches: [ActionBatch],
        of actions: ActionLedger,
        _ credentials: Credentials,
        _ reload: @escaping @Sendable () throws -> ActionJob,
        _ report: @escaping @Sendable (ActionEvent) -> Void
    ) async throws -> ActionRefusal? {
        var configuration = job.transportConfiguration(connections: job.limits.concurrency)
        configuration.maximumBodyBytes = job.action.sizeLimit
        let transport = try CurlTransport(configuration)
        defer { transport.shutdown() }
        let server = server(over: transport, credentials)
        let window = RateWindow(length: .seconds(job.limits.windowSeconds))
        let limiters = limiters(of: actions, window: window, report: report)
        var refusal: ActionRefusal?
        for batch in batches {
            try credentials.checkRoots()
            changeOfInput(of: batch).map { report(.remark($0)) }
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
            } catch let error as ActionRefusal {
                refusal = refusal ?? error
            } catch ActionStop.credentials(let report) {
                throw await refusedKey(report, of: actions, credentials)
            }
        }
        return refusal
    }

    /// The end of a run with a refused key, with the wrong value of the job file as far as a probe shows it.
    func refusedKey(_ report: FailureReport, of actions: ActionLedger, _ credentials: Credentials) async -> ActionStop {
        let probe = AppleProbe(job: job, ledger: ledger, credentials: credentials, time: time)
        return .credentials(await probe.explaining(report, countingFor: actions.app))
    }

    /// Reads what is left after a stop; `nil` if the ledger does not answer in time.
    func afterStop<Value: Sendable>(_ read: @escaping @Sendable () async throws -> Value) async -> Value? {
        let time = time
        // In a separate task, because the current one is cancelled.
        return await Task {
            try? await withDeadline(Self.statusTimeout, since: time.monotonic(), time: time, read)
        }.value
    }

    /// The longest time to count what is left, so that a process stops in less than ten seconds.
    private static let statusTimeout = Duration.seconds(2)

    /// The newest batch that was sent, or else the newest one, with its rows by state.
    ///
    /// - Parameter limit: How long to wait for the ledger.
    /// - Returns: `nil` without a batch.
    /// - Throws: Errors of the ledger, ``DeadlineReached``.
    package func lastBatch(within limit: Duration) async throws -> BatchStatus? {
        try await withDeadline(limit, since: time.monotonic(), time: time) {
            let actions = try await actions()
            let batches = try await actions.batches()
            guard let batch = batches.first(where: { $0.startedAt != nil }) ?? batches.first else { return nil }
            return try await actions.status(of: batch)
        }
    }

    /// Writes the result files of a batch.
    ///
    /// - Parameters:
    ///   - directory: Where; `nil` for the job's own directory.
    ///   - hash: The batch; `nil` for the newest.
    /// - Returns: The batch, the directory and the files.
    package func results(
        in directory: String?,
        of hash: String?
    ) async throws -> (batch: ActionBatch, directory: String, files: [Manifest.File]) {
        let roots = try Credentials.trust(of: job).fingerprints
        let actions = try await actions()
        let batches = try await actions.batches()
        guard let newest = batches.first else { throw ActionRefusal.noBatch(job: job.name) }
        var batch = newest
        if let hash {
            guard let named = batches.first(where: { $0.sha256 == hash }) else {
                throw ActionRefusal.unknownHash(found: hash, job: job.name)
            }
            batch = named
        }
        guard let directory = directory ?? job.resultsDirectory else { throw NoResultsDirectory() }
        return (batch, directory, try await writeResults(of: batch, in: actions, to: directory, roots).files)
    }

    /// Writes the result files at the end of a run.
    ///
    /// Another process of the same run can be writing them, so this one waits for it, at most a minute.
    private func writeResultsInTurn(
        of batch: ActionBatch,
        in actions: ActionLedger,
        to directory: String,
        _ trustedRoots: [String]
    ) async throws -> [Manifest.File] {
        let began = time.monotonic()
        while true {
            do {
                return try await writeResults(of: batch, in: actions, to: directory, trustedRoots).files
            } catch LedgerError.directoryInUse where time.monotonic() - began < .seconds(60) {
                try await time.sleep(.seconds(1))
            }
        }
    }

    private func writeResults(
        of batch: ActionBatch,
        in actions: ActionLedger,
        to directory: String,
        _ trustedRoots: [String]
    ) async throws -> Manifest {
        try await ledger.transaction(.readOnlySnapshot) { connection in
            // Between two reads the session is idle in its transaction while a file is written to disk.
            try connection.script("SET LOCAL idle_in_transaction_session_timeout = 0")
            let snapshot = try connection.run(
                "SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') AS moment"
            )[0].text("moment")
            return try publishCSVSet(
                ActionResultFile.allCases.map { file in (file.fileName, file.rawValue) },
                columns: batch.inputColumns + ResultColumns.all + actions.resultColumns,
                in: directory,
                job: job.name,
                snapshot: snapshot,
                trustedRoots: trustedRoots
            ) { table, last in
                guard let file = ActionResultFile(rawValue: table) else { return [] }
                let position = last.flatMap { $0[batch.inputColumns.count].numberValue } ?? 0
                return try actions.resultRows(of: file, in: batch, after: position, on: connection).map {
                    $0.cells(columns: batch.inputColumns.count)
                }
            }
        }
    }

    func server(over transport: CurlTransport, _ credentials: Credentials) -> AppleServer {
        let client = AppStoreClient(
            transport: transport,
            baseURL: job.requestURL,
            tokens: credentials.tokens,
            time: time
        )
        let verifier = RecordVerifier(
            bundleId: job.app.bundleId,
            environment: job.app.environment,
            appAppleId: job.app.appAppleId,
            verifier: credentials.verifier
        )
        return AppleServer(client: client, verifier: verifier, now: { [ledger] in ledger.clock }, time: time)
    }

    /// The limiters of the action and of the endpoints that read its effect back; all use the ledger's budget.
    func limiters(
        of actions: ActionLedger,
        window: RateWindow,
        report: @escaping @Sendable (ActionEvent) -> Void
    ) -> [StreamName: RateLimiter] {
        let rates = job.limits.requestsPerSecond.keys.map { endpoint in
            (endpoint, job.limits.allowedRate(of: endpoint, in: job.app.environment))
        }
        let shares = rates.map { ($0, PostgresRateLedger.Share(requestsPerSecond: $1, window: window)) }
        let budget = PostgresRateLedger(
            pool: ledger.control,
            app: actions.app,
            shares: Dictionary(uniqueKeysWithValues: shares)
        )
        return Dictionary(
            uniqueKeysWithValues: rates.map { endpoint, rate in
                let terms = LimiterTerms(requestsPerSecond: rate, window: window)
                let limiter = RateLimiter(stream: endpoint, terms: terms, ledger: budget, time: time) { answer in
                    report(.stalled(endpoint, for: answer.wait))
                }
                return (endpoint, limiter)
            }
        )
    }
}

/// Neither the command nor the job names a directory for the result files.
struct NoResultsDirectory: ExplainedError {
    var status: ExitStatus { .usage }

    var sentence: String {
        "name the directory for the result files: --directory DIR, or output.results.directory in the job file"
    }
}

extension ResultRow {
    /// The cells of the row; an erased row has no input.
    fileprivate func cells(columns: Int) -> [CSVCell] {
        let kept = (0..<columns).map { place -> CSVCell in
            place < input.count ? .text(input[place]) : .null
        }
        return kept + [
            .number(position), .text(state.rawValue), reason.isEmpty ? .null : .text(reason),
            requestID.map(CSVCell.text) ?? .null, httpStatus.map(CSVCell.number) ?? .null,
            appleCode.map(CSVCell.number) ?? .null, appleMessage.map(CSVCell.text) ?? .null,
            confirmedBy.map(CSVCell.text) ?? .null, sentAt.map(CSVCell.text) ?? .null,
            endedAt.map(CSVCell.text) ?? .null, answer.map(CSVCell.text) ?? .null,
        ] + members.map { $0.map(CSVCell.text) ?? .null }
    }
}

extension CSVCell {
    fileprivate var numberValue: Int64? {
        guard case .number(let number) = self else { return nil }
        return number
    }
}
