import AppStoreModel
import Basics
import JobFiles
import JobSyntax
import Ledger
import Pipeline
import Planning
import Publish
import Status
import Streams

extension Pipeline {
    /// Checks everything that a run needs, and skips checks that depend on a failed one.
    ///
    /// Sends one request to Apple, which costs one unit of one stream's limit; more only if Apple answers 401.
    func check(_ diagnostics: Diagnostics) async {
        let credentials = await diagnostics.checkCredentials(of: job)
        await diagnostics.checkKeyFileName(of: job)
        if let warning = job.sandboxOnlyWarning { await diagnostics.passes("environment") { "warning: \(warning)" } }
        for list in job.idLists {
            if case .query = list.list { continue }
            await diagnostics.passes(Self.subject(of: list)) {
                guard let count = try list.source.count() else { return "IDs come from a query" }
                return try Self.finding(count, of: list)
            }
        }
        for output in job.output.files {
            await diagnostics.passes("\(output.format.title) files") {
                try await checkOutput(output)
                return "\(output.directory) can be written"
            }
        }
        let records: Void? = await diagnostics.checkLedger(
            ledger,
            records: { await checkRecords(diagnostics) },
            moments: refuseMomentsAhead
        )
        let hasSchema = records != nil
        if case .changedSince = job.transactionIds {
            await diagnostics.passes("ID list") { try await customersFinding(readsLedger: hasSchema) }
        }
        guard let credentials else { return }
        if hasSchema {
            let originMatches = await diagnostics.passes("origin") {
                try await checkOrigins(credentials.rootFingerprints)
                return job.rehearsalSentence(credentials.rootFingerprints)
                    ?? "the job accepts records that Apple signed, from \(job.appStore.baseURL)"
            }
            // A run would not send requests to this server, so the check of Apple is skipped.
            guard originMatches else { return }
        }
        await diagnostics.passes("Apple") {
            let probe = AppleProbe(job: job, ledger: ledger, credentials: credentials)
            return try await probe.finding(countingFor: hasSchema ? try await knownApp() : nil)
        }
    }

    /// Checks what the ledger has of the job, and the lists that it can count.
    private func checkRecords(_ diagnostics: Diagnostics) async {
        await diagnostics.passes("app") { try await compareWithLedger() }
        await diagnostics.passes("job") { try await jobFileFinding() }
        await diagnostics.passes("views") { try await viewsFinding() }
        await diagnostics.passes("rates") { try await ratesFinding() }
        for list in job.idLists {
            guard case .query(let sql) = list.list else { continue }
            await diagnostics.passes(Self.subject(of: list)) {
                let finding = try Self.finding(try await ledger.countListed(by: sql, of: list.kind), of: list)
                let shared = try await ledger.sharedNames(in: sql).map { $0.readsOwn(list.key) }
                return ([finding] + shared).joined(separator: "; ")
            }
        }
    }

    /// Where the customers of a job without a list come from, and whom this misses, as `status` says it.
    private func customersFinding(readsLedger: Bool) async throws -> String {
        let days = job.app.environment.notificationReach.components.seconds / 86_400
        let source = "no list: the customers come from the app's notifications, which Apple keeps for \(days) days; "
        let remedy = "to add customers without a notification, run a job with list, csv or query once"
        guard readsLedger, let app = try await knownApp() else { return source + remedy }
        let sources = try await ledger.customerSources(of: app)
        guard sources.largestList > 0 else { return source + remedy }
        let list = "the largest list of a run had \(sources.largestListInWords)"
        return source
            + (sources.lacksList
                ? "\(list), but notifications named \(sources.named) customers: \(remedy)"
                : "\(list); a customer who is neither in a list nor named by a notification would be missing")
    }

    /// Compares the job's app with the ledger.
    ///
    /// - Throws: ``Ledger/LedgerError/appMismatch(found:job:)``.
    private func compareWithLedger() async throws -> String {
        try await checkKnownApp()
        let name = "\(job.app.bundleId) in \(job.app.environment.rawValue)"
        if try await knownApp() != nil { return "\(name) agrees with the ledger" }
        let others = try await ledger.appsInUse().map { "\($0.bundleId) (\($0.environment))" }
        return others.isEmpty
            ? "\(name) is the first app of this ledger, which has no record to compare app.bundleId with. Only Apple's records show whether it is right"
            : "\(name) is new in this ledger, which has \(others.joined(separator: ", ")). Correct app.bundleId and app.environment if the job is for one of these"
    }

    /// Compares the job file with the one of the job's last run.
    ///
    /// - Throws: ``Ledger/OtherJobFile``.
    private func jobFileFinding() async throws -> String {
        guard let app = try await knownApp(), try await ledger.jobs(of: app).contains(job.name) else {
            return "\(job.name) has not run yet"
        }
        let now = UnixMilliseconds(rawValue: Timekeeper.system.wallClock())
        var plan = RunPlan(job: job, app: app, now: now, restart: false, version: storeLedgerVersion)
        plan.jobFile = jobFile
        try await ledger.checkJobFile(plan)
        return "the last run of \(job.name) does not conflict with this job file"
    }

    /// How old the views are.
    ///
    /// - Throws: ``ViewsAreOld`` if the last refresh failed, ``StaleStatistics`` if an erasure could not renew the statistics.
    private func viewsFinding() async throws -> String {
        let views = try await ledger.viewsStatus()
        if let since = views.failedSince { throw ViewsAreOld(views: views, since: since) }
        if let stale = try await ledger.staleStatistics(), stale.failure != nil { throw stale }
        return views.refreshedAt.map { "as of \($0)" } ?? "not computed yet; a run computes them"
    }

    /// The exchange rates, and what they lack.
    private func ratesFinding() async throws -> String {
        guard let rates = try await ledger.ratesStatus(of: try await knownApp()) else {
            return "none, so the views in one currency are empty; storeledger rates import reads them"
        }
        return rates.currencies.map { ($0.missing == nil ? "" : "warning: ") + $0.sentence }.joined(separator: ". ")
    }

    /// - Throws: ``MomentsAhead`` if the ledger has moments of the job after PostgreSQL's present time.
    private func refuseMomentsAhead() async throws {
        let windows = job.streams.names(with: .windows)
        guard let app = try await knownApp(),
            let ahead = try await ledger.latestMoment(of: job.name, app: app, windows: windows)
        else { return }
        throw MomentsAhead(by: ahead)
    }

    private static func subject(of list: NamedIDList) -> String {
        "ID list" + (list.stream.map { " of \($0.rawValue)" } ?? "")
    }

    /// - Throws: ``EmptyList`` for a list without an ID.
    private static func finding(_ count: IDCount, of list: NamedIDList) throws -> String {
        guard count.distinct > 0 else { throw EmptyList(list) }
        let found = "\(count.isEstimate ? "about " : "")\(count.distinct) IDs, \(count.duplicates) duplicates"
        return ([found] + count.leftOut).joined(separator: "; ")
    }
}

/// The ledger has moments of the job after PostgreSQL's present time, because its clock was ahead.
struct MomentsAhead: ExplainedError {
    let sentence: String
    let status = ExitStatus.configuration

    init(by difference: Duration) {
        sentence =
            "the job has a run or a window up to \(difference.inWords) after PostgreSQL's present time, so the server's clock was ahead. Check that it is right now (NTP); the next run plans this time again"
    }
}

/// The last refresh of the views failed.
struct ViewsAreOld: ExplainedError {
    let views: JobStatus.Views
    let since: String

    var sentence: String {
        let age = views.refreshedAt.map { "show the ledger as of \($0)" } ?? "were never computed"
        return "the views \(age); every refresh since \(since) has failed\(views.message.map { ": \($0)" } ?? "")"
            + ". Remove the cause, then: storeledger refresh JOB"
    }

    var status: ExitStatus { .completeWithLosses }
}

/// An ID list has no ID, so a run would request nothing for it and end with 2.
struct EmptyList: ExplainedError {
    let sentence: String

    init(_ list: NamedIDList) {
        sentence = "\(list.title) has no ID; check what writes the list. A run would end with 2"
    }

    var status: ExitStatus { .completeWithLosses }
}
