import AppStoreAPI
import AppStoreModel
import Basics
import Crawl
import HTTPTransport
import JobFiles
import Ledger
import LedgerSchema
import Normalize
import Planning
import RateLimit

/// One process's part of one run.
///
/// It works phase by phase until every item of the run is complete or has failed.
struct RunSession: Sendable {
    let pipeline: Pipeline
    let plan: RunPlan
    let holder: LeaseHolder
    let credentials: Credentials
    let limits: CrawlLimits
    /// Whether too many rejected records stop the crawl; see ``Crawl/CrawlRules/stopsForRejects``.
    let stopsForRejects: Bool
    /// The number of items crawled at the same time.
    let concurrency: Int
    let counter: ProgressCounter
    let report: @Sendable (RunEvent) -> Void

    private var job: JobFile { plan.job }
    private var ledger: Ledger { pipeline.ledger }

    /// Crawls until every item of the run is complete or has failed, including items of other processes.
    func crawl() async throws {
        let transport = try CurlTransport(job.transportConfiguration(connections: concurrency))
        defer { transport.shutdown() }
        let (ledger, holder) = (ledger, holder)
        let leases = LeaseKeeper(time: pipeline.time) { try await ledger.renewLeases(of: $0, for: holder) }
        let crawler = Crawler(
            source: source(over: transport),
            store: try await crawlLedger(leases),
            limits: limits,
            rules: rules,
            time: pipeline.time,
            report: { event in report(.crawl(event)) }
        )
        do {
            try await crawl(with: crawler, leases)
        } catch StopReason.credentials(let report) {
            throw StopReason.credentials(await probe.explaining(report, countingFor: holder.app))
        }
    }

    private func crawl(with crawler: Crawler<AppleSource, CrawlLedger>, _ leases: LeaseKeeper<HeldItem>) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await leases.run() }
            group.addTask { try await counter.countAgain { report(.counted($0)) } }
            group.addTask {
                try await crawlPhases(with: crawler)
                try crawler.finish()
            }
            defer { group.cancelAll() }
            // The renewal of leases ends only with an error, and the counting only when it is cancelled. So the group ends with the crawl or with that error.
            try await group.next()
        }
    }

    private func crawlPhases(with crawler: Crawler<AppleSource, CrawlLedger>) async throws {
        if plan.changedSince == nil {
            try await crawler.crawl(plan.streamsOfWindows + plan.streamsOfLists, concurrency: concurrency)
        } else {
            try await crawler.crawl(plan.streamsOfWindows, concurrency: concurrency)
            try await planChangedCustomers()
            try await crawler.crawl(plan.streamsOfLists, concurrency: concurrency)
        }
        guard !plan.streamsOfLastPhase.isEmpty else { return }
        _ = try await ledger.planLastPhase(plan, run: holder.run)
        report(.counted(try await counter.count(afterPlanning: .afterRevocations)))
        try await crawler.crawl(plan.streamsOfLastPhase, concurrency: concurrency)
    }

    /// Adds the customers mentioned in notifications.
    ///
    /// Call it when all notifications are in the ledger.
    private func planChangedCustomers() async throws {
        if let changed = try await ledger.planChangedCustomers(plan, run: holder.run) {
            let withheld = changed.withheld > 0 ? "; \(changed.withheld) erased customers are left out" : ""
            report(.remark("notifications mention \(changed.planned) customers to request\(withheld)"))
        }
        report(.counted(try await counter.count(afterPlanning: .afterNotifications)))
    }

    private var probe: AppleProbe {
        AppleProbe(job: job, ledger: ledger, credentials: credentials, time: pipeline.time)
    }

    private var rules: CrawlRules {
        var rules = CrawlRules()
        rules.stopsForRejects = stopsForRejects
        rules.keyPatience = KeyPatience(window: RateWindow(length: .seconds(job.limits.windowSeconds)))
        if job.appStore.triesSandbox { rules.otherEnvironment = .sandbox }
        return rules
    }

    private func source(over transport: CurlTransport) -> AppleSource {
        let client = { (baseURL: String) in
            AppStoreClient(transport: transport, baseURL: baseURL, tokens: credentials.tokens, time: pipeline.time)
        }
        return AppleSource(
            job: job,
            now: plan.now,
            client: client(job.appStore.requestURL),
            otherClient: job.appStore.triesSandbox ? client(job.sandboxURL) : nil,
            probe: probe,
            app: holder.app,
            time: pipeline.time
        )
    }

    private func crawlLedger(_ leases: LeaseKeeper<HeldItem>) async throws -> CrawlLedger {
        let destination = { (app: AppID, environment: AppStoreEnvironment) in
            CrawlLedger.RecordDestination(
                app: app,
                verifier: RecordVerifier(
                    bundleId: job.app.bundleId,
                    environment: environment,
                    appAppleId: job.app.appAppleId,
                    verifier: credentials.verifier
                )
            )
        }
        return CrawlLedger(
            ledger: ledger,
            plan: plan,
            holder: holder,
            leases: leases,
            destination: destination(holder.app, job.app.environment),
            otherDestination: job.appStore.triesSandbox ? destination(try await pipeline.sandboxApp(), .sandbox) : nil,
            credentials: credentials,
            time: pipeline.time
        )
    }
}

extension JobFile {
    /// The server for IDs unknown to production: Apple's sandbox, or the job's own server if it is the simulator.
    var sandboxURL: String {
        appStore.isLoopback ? appStore.baseURL : AppStoreEnvironment.sandbox.baseURL
    }
}
