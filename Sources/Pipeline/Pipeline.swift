import AppStoreAPI
import AppStoreModel
package import Basics
import Crawl
import HTTPTransport
package import JobPlan
package import Ledger
import LedgerSchema
import Normalize
import Planning
import Postgres
import Publish
import RateLimit
import SignedData

/// Runs one job, from its file to verified rows in PostgreSQL and CSV.
///
///     jobs/*.yaml ─► plan ──► lease ─► permit ─► fetch ─► verify ─► normalize ─► commit page + cursor ─► next page
///                                                                                    └─► CSV snapshot
///
/// ``run(_:report:)`` performs all steps; ``Crawl/Crawler`` performs those from lease to next page.
package struct Pipeline: Sendable {
    package let job: JobFile
    package let ledger: Ledger
    let time: Timekeeper
    /// The version of storeledger, recorded with every run.
    let version: String
    /// `nil` if the job was not read from a file.
    let jobFile: JobFilePlace?

    /// Makes the pipeline; reads nothing and opens no connection.
    package init(
        job: JobFile,
        at address: LedgerAddress,
        version: String,
        jobFile: JobFilePlace? = nil,
        time: Timekeeper = .system
    ) {
        self.job = job
        self.version = version
        self.jobFile = jobFile
        self.time = time
        // A page takes milliseconds to commit, so a few sessions serve many workers.
        ledger = address.ledger(sessions: min(8, max(2, job.limits.concurrency / 4)))
    }

    /// Options of a run in addition to the job file.
    package struct Options: Sendable {
        /// Start every item again from its first page; stored records are kept.
        package var restart = false
        /// Crawl only the items that failed in earlier runs.
        package var retryFailed = false
        /// Replaces the job's `limits.concurrency`.
        package var concurrency: Int?
        /// Stop in an orderly way after this time, with 75 if work is left.
        package var maximumDuration: Duration?

        package init() {}
    }

    /// Starts a run of the job or resumes its unfinished run.
    ///
    /// Returns when every item is complete or has failed.
    ///
    /// - Throws: Errors that ``Failure/init(_:)`` explains. The next start continues with the remaining work. With
    ///   ``Options/retryFailed`` also ``Ledger/NothingToRetry``.
    package func run(_ options: Options, report: @escaping @Sendable (RunEvent) -> Void) async throws -> SessionResult {
        let began = time.monotonic()
        let credentials = try Credentials(job: job) { report(.remark($0)) }
        if let rehearsal = job.rehearsalSentence(credentials.rootFingerprints) { report(.rehearsal(rehearsal)) }
        // Otherwise a wrong directory would be found only after the crawl.
        for output in job.output.files { try checkOutputDirectory(output.directory) }
        crashPoint(.jobRead)
        let app = try await openApp(trustedRoots: credentials.rootFingerprints, report: report)
        let databaseNow = try await ledger.now()
        ledger.endWhenClockIsSet()
        if let off = ClockIsOff(databaseNow - UnixMilliseconds(rawValue: time.wallClock()), of: "PostgreSQL") {
            report(.remark(off.sentence))
        }
        var plan = RunPlan(
            job: job,
            app: app,
            now: databaseNow,
            restart: options.restart,
            version: version,
            trustedRoots: credentials.rootFingerprints
        )
        plan.latestNow = max(databaseNow, UnixMilliseconds(rawValue: time.wallClock()))
        plan.jobFile = jobFile
        if let limit = options.maximumDuration {
            plan.lockTimeout = min(plan.lockTimeout, limit - (time.monotonic() - began))
        }
        let start = try await start(plan, retryFailed: options.retryFailed, report: report)
        let wasStoppedForRejects = try await ledger.wasStoppedForRejects(start.run, app: app)
        if wasStoppedForRejects {
            let cause = "because of rejected records; it is not stopped for that reason again"
            report(.remark("run \(start.run) was stopped \(cause)"))
        }
        let holder = LeaseHolder(app: app, job: job.name, run: start.run)
        let limits = try await limits(app: app, report: report)
        let concurrency = options.concurrency ?? job.limits.concurrency
        let frozen = plan.frozen(as: start)
        let counter = ProgressCounter(
            ledger: ledger,
            plan: frozen,
            run: start.run,
            concurrency: concurrency,
            time: time
        )
        let session = RunSession(
            pipeline: self,
            plan: frozen,
            holder: holder,
            credentials: credentials,
            limits: limits,
            stopsForRejects: !wasStoppedForRejects,
            concurrency: concurrency,
            counter: counter,
            report: report
        )
        let presence = Task { try await keepPresent(holder) }
        defer { presence.cancel() }
        do {
            report(.began(start, try await counter.count()))
            var published: [PublishedFiles]
            var summary: RunSummary
            repeat {
                try await withDeadline(options.maximumDuration, since: began, time: time) { try await session.crawl() }
                do {
                    published = try await publishAtEnd(
                        of: start.run,
                        app: app,
                        credentials: credentials,
                        report: report
                    )
                } catch  where [.cannotCreate, .ioError].contains(Failure(error).status) {
                    // Every record is stored, so a full disk of the files keeps only the files back.
                    _ = await refreshViews(report: report)
                    throw error
                }
                summary = try await ledger.conclude(start.run, app: app, job: job.name, exitCode: nil, message: nil)
                // The run is incomplete if a retry has reopened failed items meanwhile.
            } while !summary.isComplete
            // Before the refresh, which then shows what is left.
            let removed = await removeOldRecords(report: report)
            let viewsFailure = await refreshViews(report: report)
            if let viewsFailure {
                try? await ledger.recordViewsNotRefreshed(by: start.run, app: app, viewsFailure)
            }
            // Only for display.
            try? await ledger.leaveRun(holder)
            return SessionResult(
                job: job.name,
                joined: start.joined,
                start: start,
                summary: summary,
                waitedForLimits: await limits.waited,
                elapsed: time.monotonic() - began,
                published: published,
                viewsFailure: viewsFailure,
                removed: removed,
                sources: plan.changedSince != nil ? try await ledger.customerSources(of: app) : nil
            )
        } catch {
            let summary = await shutDown(holder, because: error)
            throw StoppedRun(error, summary) ?? error
        }
    }

    /// Opens the ledger, creates the job's app if it is new, and records the origin of its records.
    ///
    /// - Throws: ``Ledger/OtherOrigin``; then nothing is written.
    private func openApp(trustedRoots: [String], report: @Sendable (RunEvent) -> Void) async throws -> AppID {
        try await openLedgerToWrite()
        // This check comes before the app's row is created or changed, so that a job with another trusted root writes
        // nothing.
        try await checkOrigins(trustedRoots)
        let app = try await ownApp()
        if job.appStore.triesSandbox { _ = try await sandboxApp() }
        for remark in try await claimOrigins(trustedRoots, asksServer: true) { report(.remark(remark)) }
        return app
    }

    /// Starts or joins a run; with `retryFailed`, only of items that failed before.
    private func start(
        _ plan: RunPlan,
        retryFailed: Bool,
        report: @Sendable (RunEvent) -> Void
    ) async throws -> StartedRun {
        let start =
            retryFailed
            ? try await ledger.retryFailed(plan) : try await ledger.beginOrJoin(plan, RunLists(of: job))
        start.remarks.forEach { report(.remark($0)) }
        return start
    }

    /// Publishes the files of a run without open items, unless another process publishes them.
    ///
    /// - Throws: ``RunSuperseded`` if the run's items now belong to another run.
    private func publishAtEnd(
        of run: Int64,
        app: AppID,
        credentials: Credentials,
        report: @Sendable (RunEvent) -> Void
    ) async throws -> [PublishedFiles] {
        var remaining = job.output.files[...]
        var published: [PublishedFiles] = []
        while true {
            switch try await ledger.end(of: run, app: app) {
            case .superseded: throw RunSuperseded(run: run)
            case .finished: return published
            case .unfinished: break
            }
            guard let output = remaining.first else { return published }
            do {
                report(.publishing(output))
                let roots = credentials.rootFingerprints
                published.append(try await publish(output, app: app, run: run, trustedRoots: roots))
                remaining = remaining.dropFirst()
            } catch LedgerError.directoryInUse {
                // Most likely another process is publishing for this run. It will then also finish the run.
                try await time.sleep(.seconds(1))
            }
        }
    }

    /// Refreshes the views if they are stale.
    ///
    /// - Returns: A message if they are not up to date.
    private func refreshViews(report: @Sendable (RunEvent) -> Void) async -> String? {
        let warning = await refreshAfterwards(evenIfFresh: false) {
            report(.remark("bringing the views up to date"))
        }
        if let warning { report(.remark(warning)) }
        return warning
    }

    /// Connects and checks that this storeledger version supports the schema.
    package func openLedger() async throws {
        try await ledger.open()
    }

    /// As ``openLedger()``, for a command that writes.
    ///
    /// - Throws: ``Ledger/LedgerError/readOnlyReplica``.
    func openLedgerToWrite() async throws {
        try await ledger.openToWrite()
    }

    /// Records until cancelled that this process works on the run, whether or not it has a lease.
    ///
    /// Failures are ignored, because the record is only for `status`.
    private func keepPresent(_ holder: LeaseHolder) async throws {
        while true {
            try? await ledger.joinRun(holder)
            try await time.sleep(LeaseHolder.heartbeatInterval)
        }
    }

    /// The longest time to release leases, so that a process stops in less than ten seconds.
    private static let shutdownTimeout = Duration.seconds(5)

    /// Releases the leases and records why work is left.
    ///
    /// It does this in a separate task, so that a cancellation does not interrupt it.
    ///
    /// - Returns: The run's counts; `nil` if the ledger did not answer in time.
    private func shutDown(_ holder: LeaseHolder, because error: any Error) async -> RunSummary? {
        let failure = Failure(error)
        ledger.ignoreClock()
        return await Task {
            do {
                return try await withDeadline(Self.shutdownTimeout, since: time.monotonic(), time: time) {
                    try await ledger.releaseLeases(of: holder)
                    try await ledger.leaveRun(holder)
                    if case StopReason.manyRejected = error {
                        try await ledger.noteStopForRejects(holder.run, app: holder.app)
                    }
                    return try await ledger.conclude(
                        holder.run,
                        app: holder.app,
                        job: holder.job,
                        exitCode: failure.status.rawValue,
                        message: failure.message
                    )
                }
            } catch {
                // Leases that were not released expire. The first error is the one to report.
                return nil
            }
        }.value
    }

    /// The limiters of every endpoint that the job requests; all use the ledger's budget.
    private func limits(
        app: AppID,
        report: @escaping @Sendable (RunEvent) -> Void
    ) async throws -> CrawlLimits {
        let own = limiters(app: app, scale: 1, report: report)
        guard job.appStore.triesSandbox else { return CrawlLimits(limiters: own) }
        let sandbox = try await sandboxApp()
        // The sandbox allows a tenth of the production limits.
        return CrawlLimits(limiters: own, otherLimiters: limiters(app: sandbox, scale: 0.1, report: report))
    }

    private func limiters(
        app: AppID,
        scale: Double,
        report: @escaping @Sendable (RunEvent) -> Void
    ) -> [StreamName: RateLimiter] {
        let budget = budget(of: app, scale: scale)
        return Dictionary(
            uniqueKeysWithValues: job.streams.names.map { stream in
                let allowed = job.limits.allowedRate(of: stream, in: job.app.environment) * scale
                let terms = LimiterTerms(
                    requestsPerSecond: allowed,
                    window: RateWindow(length: .seconds(job.limits.windowSeconds))
                )
                let limiter = RateLimiter(stream: stream, terms: terms, ledger: budget, time: time) { [time] answer in
                    if let latest = answer.latest, let clock = answer.clock {
                        return report(.crawl(.clockIsBehind(stream, latest: latest, by: latest - clock)))
                    }
                    let now = UnixMilliseconds(rawValue: time.wallClock())
                    report(.crawl(.stalled(stream, for: answer.wait, until: now + answer.wait)))
                }
                return (stream, limiter)
            }
        )
    }

    /// The share of Apple's limits that the job may use, times `scale`.
    func budget(of app: AppID, scale: Double) -> PostgresRateLedger {
        let window = RateWindow(length: .seconds(job.limits.windowSeconds))
        let shares = AllStreams.names.map { stream in
            let allowed = job.limits.allowedRate(of: stream, in: job.app.environment) * scale
            return (stream, PostgresRateLedger.Share(requestsPerSecond: allowed, window: window))
        }
        return PostgresRateLedger(pool: ledger.control, app: app, shares: Dictionary(uniqueKeysWithValues: shares))
    }

    /// The job's app; the first job of an app creates it.
    func ownApp() async throws -> AppID {
        try await ledger.app(
            bundleId: job.app.bundleId,
            environment: job.app.environment.rawValue,
            appAppleId: job.app.appAppleId
        )
    }

    /// Compares the job's app with the ledger, and changes nothing.
    ///
    /// - Throws: ``Ledger/LedgerError/appMismatch(found:job:)``, as ``ownApp()`` does.
    func checkKnownApp() async throws {
        try await ledger.checkApp(
            bundleId: job.app.bundleId,
            environment: job.app.environment.rawValue,
            appAppleId: job.app.appAppleId
        )
    }

    func sandboxApp() async throws -> AppID {
        try await ledger.app(
            bundleId: job.app.bundleId,
            environment: AppStoreEnvironment.sandbox.rawValue,
            appAppleId: nil
        )
    }
}

/// Another run replaced this one, with other filters or with `--restart`.
struct RunSuperseded: ExplainedError {
    let run: Int64

    var status: ExitStatus { .workLeft }

    var sentence: String { "another run of the job replaced run \(run); run again to join it" }
}
