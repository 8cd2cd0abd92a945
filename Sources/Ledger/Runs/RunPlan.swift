package import AppStoreModel
package import JobPlan
import SignedData

/// What a run is to do, from the job file; the transaction IDs come beside it, a batch at a time.
package struct RunPlan: Sendable {
    package let job: JobFile
    package let app: AppID
    /// What `now` means in the whole run.
    package let now: UnixMilliseconds
    /// Begin everything at its beginning, whatever earlier runs reached.
    package let restart: Bool
    /// Of storeledger; filed with the run.
    package let version: String
    /// SHA-256 of each root under which the run's records must be signed; filed with the run.
    package let trustedRoots: [String]
    /// How long to wait while another process begins a run of the job.
    package var lockPatience = Ledger.longLockPatience

    package init(
        job: JobFile,
        app: AppID,
        now: UnixMilliseconds,
        restart: Bool,
        version: String,
        trustedRoots: [String] = []
    ) {
        self.job = job
        self.app = app
        self.now = now
        self.restart = restart
        self.version = version
        self.trustedRoots = trustedRoots.sorted()
    }

    /// The plan of the run that was begun or joined: with the `now` and the restart an earlier process froze.
    package func frozen(as start: RunStart) -> RunPlan {
        var plan = RunPlan(
            job: job,
            app: app,
            now: start.now,
            restart: start.restarted,
            version: version,
            trustedRoots: trustedRoots
        )
        plan.lockPatience = lockPatience
        return plan
    }

    /// The oldest notifications worth asking for.
    var oldestNotification: UnixMilliseconds { job.app.environment.oldestNotification(at: now) }

    /// Whether an item's window begins where Apple's reach began when the run did, because the job asks for all there is.
    ///
    /// A long run's later items find that edge moved on. "As far back as Apple goes" cannot be short of anything.
    package func asksAsFarBackAsApple(_ item: WorkItem) -> Bool {
        guard let start = item.window?.lowerBound else { return false }
        return job.streams[item.stream]?.dates?.startDate == .lastRun && start <= oldestNotification
    }

    /// Streams with one item for each listed ID, from the beginning of the run.
    package var streamsOfIDs: [StreamName] { job.streams.names(with: .listedIDs) }

    /// Streams whose customers are known once the others have finished; see ``JobPlan/ItemSource``.
    package var streamsOfRevocations: [StreamName] { job.streams.names(with: .customersWithRevocation) }

    /// Streams with windows for the whole app.
    package var streamsOfWindows: [StreamName] { job.streams.names(with: .windows) }

    /// From when on notifications name the customers; `nil` when the job lists them itself.
    package var changedSince: DateExpression? {
        guard case .changedSince(let since) = job.transactionIds else { return nil }
        return since
    }

    /// Whether the source may hold other IDs by now without the job file saying so.
    var idsMayChange: Bool {
        switch job.transactionIds {
        case nil, .list, .changedSince: false
        case .csv, .query: true
        }
    }

    /// Until when an item is complete once its last page is in the ledger.
    package func completeUntil(_ item: WorkItem) -> UnixMilliseconds {
        if let window = item.window { return window.upperBound }
        return min(now, job.streams[item.stream]?.end(now: now) ?? now)
    }

    /// Of all streams and the source of the IDs; another one means another run.
    ///
    /// Neither the contents nor the path of a CSV file are part of it, nor a query's answer: a run goes on with the IDs it
    /// began with, from whichever folder or machine it is continued.
    var fingerprint: String {
        var parts = job.streams.names.map { "\($0.rawValue)(\(job.queryFingerprint(for: $0)))" }
        parts += job.streams.all.compactMap(\.planFingerprint)
        if job.appStore.triesSandbox { parts.append("sandbox") }
        switch job.transactionIds {
        case nil: break
        case .list(let ids): parts.append("list " + Set(ids).sorted().map(\.text).joined(separator: ","))
        case .csv(_, let column): parts.append("csv \(column ?? "")")
        case .query(let sql): parts.append("query \(sql)")
        case .changedSince(let since): parts.append("changedSince \(since.fingerprint)")
        }
        return SHA256.digest(of: Array(parts.joined(separator: "\n").utf8)).hexadecimal
    }
}

/// How a run began.
package struct RunStart: Sendable {
    package let run: Int64
    /// The `now` of the run, which an earlier process may have frozen.
    package let now: UnixMilliseconds
    package let joined: Bool
    /// Whether the run was begun with `--restart`.
    package let restarted: Bool
    package var listedIDs: Int64 = 0
    package var duplicateIDs: Int64 = 0
    /// Of the listed ones, those of erased customers.
    package var withheldIDs: Int64 = 0
    /// Sentences for the operator: filters that changed, gaps that were found.
    package var remarks: [String] = []
}
