import AppStoreModel
package import Basics
import Crawl
import HTTPTransport
package import JobFiles
package import Ledger
import LedgerSchema
import ObjectStorage
import Planning
import Publish
import RateLimit
import SignedData
import Status
import Streams

/// Runs one job, from its file to verified rows in PostgreSQL and files.
///
///     jobs/*.yaml ─► plan ──► lease ─► permit ─► fetch ─► verify ─► normalise ─► commit page + cursor ─► next page
///                                                                                    └─► CSV and Parquet files
///
/// ``run(_:report:)`` performs all steps; ``Crawl/Crawler`` performs those from lease to next page.
package struct Pipeline: Sendable {
    package let job: JobFile
    package let ledger: Ledger
    let time: Timekeeper
    /// The version of storeledger, recorded with every run.
    let version: String
    /// `nil` if the job was not read from a file.
    package let jobFile: JobFilePlace?

    /// Makes the pipeline; reads nothing and opens no connection.
    ///
    /// - Parameter ledger: The job's; pipelines of several jobs can share it.
    package init(
        job: JobFile,
        ledger: Ledger,
        version: String,
        jobFile: JobFilePlace? = nil,
        time: Timekeeper = .system
    ) {
        self.job = job
        self.version = version
        self.jobFile = jobFile
        self.time = time
        self.ledger = ledger
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
        /// Refresh the views at the end; without it, ``refreshViews(after:report:)`` does it once for several runs.
        package var refreshesViews = true

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
        for output in job.output.files {
            do {
                try await checkOutput(output)
            } catch let error as ObjectStorageError where error.isTemporary {
                // The bucket can work again when the crawl is over.
                report(.remark(error.sentence))
            }
        }
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
                } catch  where error is ObjectStorageError || [.cannotCreate, .ioError].contains(Failure(error).status)
                {
                    // Every record is stored, so a full disk or a bucket delays only the files.
                    if options.refreshesViews { _ = await refreshViews(report: report) }
                    throw error
                }
                summary = try await ledger.conclude(start.run, app: app, job: job.name, exitCode: nil, message: nil)
                // The run is incomplete if a retry has reopened failed items meanwhile.
            } while !summary.isComplete
            // Before the refresh, which then shows what is left.
            let removed = await removeOldRecords(report: report)
            var result = SessionResult(
                job: job.name,
                app: app,
                joined: start.joined,
                start: start,
                summary: summary,
                waitedForLimits: await limits.waited,
                elapsed: time.monotonic() - began,
                published: published,
                removed: removed,
                sources: plan.changedSince != nil ? try await ledger.customerSources(of: app) : nil
            )
            if options.refreshesViews {
                result = await refreshViews(after: [result], report: report)[0]
                result.elapsed = time.monotonic() - began
            }
            // Only for display.
            try? await ledger.leaveRun(holder)
            return result
        } catch {
            let summary = await shutDown(holder, because: error)
            throw StoppedRun(error, summary) ?? error
        }
    }

    /// Opens the ledger, creates the job's app if it is new, and records the origin of its records.
    ///
    /// - Throws: ``Ledger/OtherOrigin``; then nothing is written.
    private func openApp(trustedRoots: [String], report: @Sendable (RunEvent) -> Void) async throws -> AppID {
        try await ledger.connectControl()
        try await ledger.openToWrite()
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

    /// How long to wait for another process that publishes into the same bucket.
    private static let longestPublication = Duration.seconds(900)

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
        var waitsUntil: Duration?
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
                let yields = waitsUntil.map { time.monotonic() < $0 } ?? false
                published.append(try await publish(output, app: app, run: run, trustedRoots: roots, yields: yields))
                remaining = remaining.dropFirst()
            } catch LedgerError.directoryInUse {
                // Most likely another process is publishing for this run. It will then also finish the run, unless it is killed.
                waitsUntil = waitsUntil ?? time.monotonic() + Self.longestPublication
                try await time.sleep(.seconds(1))
            }
        }
    }

    /// Refreshes the views after complete runs in the pipeline's ledger.
    ///
    /// - Returns: The results, with a failure of the refresh.
    package func refreshViews(
        after results: [SessionResult],
        report: @Sendable (RunEvent) -> Void
    ) async -> [SessionResult] {
        let failure = await refreshViews(report: report)
        var results = results
        for index in results.indices {
            results[index].viewsFailure = failure
            guard let failure else { continue }
            // The run reports the failure itself; `status` shows it only if it can be recorded.
            try? await ledger.recordViewsNotRefreshed(by: results[index].start.run, app: results[index].app, failure)
        }
        return results
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
        return await Task {
            // Leases that were not released expire. The first error is the one to report.
            try? await ledger.ignoringClock {
                try await withDeadline(Self.shutdownTimeout, since: time.monotonic(), time: time) {
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
}

/// Another run replaced this one, with other filters or with `--restart`.
struct RunSuperseded: ExplainedError {
    let run: Int64

    var status: ExitStatus { .workLeft }

    var sentence: String { "another run of the job replaced run \(run); run again to join it" }
}
