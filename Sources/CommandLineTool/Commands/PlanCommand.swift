import AppStoreModel
import ArgumentParser
import Basics
import JobFiles
import JobSyntax
import Ledger
import Pipeline
import Planning
import Streams

struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract:
            "Estimate a job's requests and its duration under Apple's limits; sends and writes nothing.",
        discussion: "  storeledger plan jobs/nightly-sync.yaml"
    )

    @OptionGroup var job: JobArgument

    @Flag(help: "Write one JSON document to stdout.")
    var json = false

    func run() async throws {
        try await perform(job: job.path, onlyReads: true) {
            let pipelines = try job.pipelines()
            var plans: [PlanReport] = []
            try await job.forEach(pipelines) { pipeline in
                let plan = try await report(of: pipeline)
                for warning in plan.warnings { Console.message("storeledger: warning: \(warning)") }
                plans.append(plan)
                if !json { show(plan, of: pipelines.count > 1 ? pipeline.job.app : nil) }
            }
            if json {
                Console.result(try pipelines.count == 1 ? JSONOutput.document(plans[0]) : JSONOutput.document(plans))
            }
        }
    }

    /// - Parameter app: One of several; `nil` for the only one.
    private func show(_ plan: PlanReport, of app: JobFile.App?) {
        Console.result("\(plan.job)\(app.map { " of \($0.bundleId)" } ?? ""): \(customers(of: plan))")
        if let run = plan.unfinishedRun {
            Console.result(
                "  run \(run) is unfinished: the next start continues it, and only its remaining items are counted"
            )
        }
        for stream in plan.streams {
            let remark = stream.remark.map { " (\($0))" } ?? ""
            guard let items = stream.items, let requests = stream.requestsAtLeast,
                let atLimit = stream.secondsAtAppleLimit, let atShare = stream.secondsAtShare
            else {
                let whose = stream.isUpperBound ? " with a revocation in their history" : ""
                let count = "at least one request for each customer\(whose)"
                Console.result("  \(stream.stream): \(count)\(remark)")
                continue
            }
            Console.result(
                "  \(stream.stream): \(counted(items, "item")), at least \(counted(requests, "request")), "
                    + "\(words(atLimit)) at Apple's limit, \(words(atShare)) at the job's share\(remark)"
            )
        }
        guard let atLimit = plan.secondsAtAppleLimit, let atShare = plan.secondsAtShare else {
            return Console.result("  together: not known before the notifications are read")
        }
        let share = Int((plan.share * 100).rounded())
        let bound = plan.remark == nil ? "at least " : ""
        let remark = plan.remark.map { " (\($0))" } ?? ""
        Console.result(
            "  together: \(bound)\(words(atLimit)) at Apple's limit, "
                + "\(words(atShare)) at the job's share of \(share)%\(remark)"
        )
    }

    /// The job's work, and how long it takes under Apple's limits.
    ///
    /// Queries the database only for the number of IDs that come from a query or from notifications.
    private func report(of pipeline: Pipeline) async throws -> PlanReport {
        let (job, ledger) = (pipeline.job, pipeline.ledger)
        let now = UnixMilliseconds(rawValue: Timekeeper.system.wallClock())
        var counted = IDCount(distinct: 0, duplicates: 0)
        var changed: ChangedSoFar?
        if case .changedSince = job.transactionIds {
            try await ledger.open()
            // Without an app, no job of it has run yet.
            if let app = try await pipeline.knownApp() {
                let plan = RunPlan(job: job, app: app, now: now, restart: false, version: storeLedgerVersion)
                changed = try await ledger.changedSoFar(plan)
            }
            let expected = max(changed?.customers ?? 0, changed?.customersOfLastRun ?? 0)
            counted.distinct = Int(changed?.unfinished?.customers ?? expected)
        }
        var ownIds: [StreamName: Int] = [:]
        var warnings = job.warnings(at: now) + [job.sandboxOnlyWarning].compactMap(\.self)
        for stream in job.streams.all where stream.items == .knownGroups {
            try await ledger.open()
            if let app = try await pipeline.knownApp() {
                ownIds[stream.name] = try await ledger.countKnownGroups(of: app)
            }
        }
        for list in job.idLists {
            let count = try await count(list, in: ledger)
            if let stream = list.stream { ownIds[stream] = count.distinct } else { counted = count }
            if count.distinct == 0 { warnings.append(EmptyList(list).sentence) }
            warnings += count.leftOut.map { "\(list.title): \($0)" }
            guard case .query(let sql) = list.list else { continue }
            warnings += try await ledger.sharedNames(in: sql).map { $0.readsOwn(list.key) }
        }
        return PlanReport(of: job, ids: counted, ownIds: ownIds, changed: changed, warnings: warnings, now: now)
    }

    /// The number of IDs in a list; a query is counted by the database.
    private func count(_ list: NamedIDList, in ledger: Ledger) async throws -> IDCount {
        if let count = try list.source.count() { return count }
        guard case .query(let sql) = list.list else { return IDCount(distinct: 0, duplicates: 0) }
        try await ledger.connect()
        return try await ledger.countListed(by: sql, of: list.kind)
    }

    private func customers(of plan: PlanReport) -> String {
        guard let ids = plan.transactionIds else {
            return "the number of customers is not known yet: the first run reads the app's notifications and requests "
                + "every customer they name"
        }
        if plan.followsNotifications {
            if ids > 0 { return "at least \(counted(ids, "customer")), from notifications" }
            let begin = plan.continuesLastRun ? "no customer has changed since the last run" : "no customer yet"
            return "\(begin): a run requests those whom new notifications name"
        }
        guard plan.listsTransactionIds else { return "needs no transaction IDs" }
        let about = plan.transactionIdsAreEstimated ? "about " : ""
        return "\(about)\(counted(ids, "transaction ID")) (\(counted(plan.duplicates, "duplicate")) dropped)"
    }

    /// Rounded up, because a run takes at least this long.
    private func words(_ seconds: Double) -> String {
        Duration.seconds(seconds).inWords(rounded: .up)
    }
}
