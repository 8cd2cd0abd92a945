import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

/// A stage with a crawled ledger, on which one test plans, approves and sends.
struct ActionScene: Sendable {
    let stage: Stage
    /// A job file of a crawl, to bring what Apple's data shows.
    let crawl: String

    /// A job file with an action.
    struct Job {
        var name = "extend-after-outage"
        var action = "extendRenewalDate: {extendByDays: 7, extendReasonCode: 3}"
        var input: String? = "csv: {path: affected.csv}"
        var approval: String?
        var stopAfter: String?
        /// With a short window, Apple's data must show an effect within a short time.
        var limits = """
            {share: 1, concurrency: 8, windowSeconds: 10, requestsPerSecond: {ENDPOINT: 100000, subscriptionStatuses: 100000,
               transactionInfo: 100000}}
            """

        var endpoint: String { String(action.prefix { $0 != ":" }) }
    }

    static func with(
        _ options: SimulatedStore.Options = .init(customers: 60),
        _ body: (ActionScene) async throws -> Void
    ) async throws {
        try await Stage.with(options) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}", "notificationHistory: {scope: app, startDate: -2d}"]
            job.limits = """
                {concurrency: 8, share: 1, requestsPerSecond: {transactionHistory: 100000, notificationHistory: 100000}}
                """
            let crawl = try stage.write(job)
            try await stage.run(crawl)
            try await body(ActionScene(stage: stage, crawl: crawl))
        }
    }

    /// Writes a job file.
    ///
    /// - Returns: Its path.
    @discardableResult
    func write(_ job: Job = Job()) throws -> String {
        var text = "version: 1\nname: \(job.name)\n\(stage.job.store)\naction:\n  \(job.action)\n"
        if let input = job.input { text += "input:\n  \(input)\n" }
        if let approval = job.approval { text += "approval: \(approval)\n" }
        if let stopAfter = job.stopAfter { text += "stopAfter: \(stopAfter)\n" }
        text += "limits: \(job.limits.replacing("ENDPOINT", with: job.endpoint))\n"
        text += "output:\n  postgres: {url: \"${DATABASE_URL}\"}\n  results: {directory: out}\n"
        return try stage.write(text, to: "\(job.name).yaml")
    }

    /// Writes `affected.csv`.
    func list(_ rows: [String], header: String = "original_transaction_id") throws {
        try stage.write(([header] + rows).joined(separator: "\n") + "\n", to: "affected.csv")
    }

    /// Subscriptions that Apple extends.
    func extensible(_ count: Int) async throws -> [String] {
        let ids = try await stage.book().column(
            """
            SELECT original_transaction_id FROM appstore.current_subscriptions c
             WHERE status = 'active' AND NOT is_trial AND NOT is_family_shared ORDER BY 1 LIMIT \(count)
            """
        )
        try #require(ids.count == count)
        return ids
    }

    struct Plan: Decodable {
        struct Rule: Decodable { let verdict, rule: String, rows: Int, example: String }
        struct Money: Decodable { let currency: String, rows, milliunits: Int }
        struct Request: Decodable { let method, path, body: String }
        let batch: String
        let rows, rowsToSend: Int
        let rules: [Rule]
        let money: [Money]
        let secondsAtAppleLimit, secondsAtShare: Double
        let requests: [Request]
        let remarks: [String]
    }

    func plan(_ path: String, _ location: SourceLocation = #_sourceLocation) async throws -> Plan {
        let outcome = try await stage.storeledger("actions", "plan", path, "--json")
        try #require(outcome.code == 0, "\(outcome.errors)", sourceLocation: location)
        return try JSONDecoder().decode(Plan.self, from: Data(outcome.output.utf8))
    }

    /// Plans and approves.
    @discardableResult
    func approve(_ path: String) async throws -> Plan {
        let plan = try await plan(path)
        try #require(try await approve(path, plan.batch, plan.rowsToSend).code == 0)
        return plan
    }

    func approve(_ path: String, _ batch: String, _ rows: Int) async throws -> Stage.Outcome {
        try await stage.storeledger("actions", "approve", path, "--batch", batch, "--rows", "\(rows)")
    }

    /// Plans the rejected rows of the last batch.
    func retry(_ path: String) async throws -> Plan {
        let outcome = try await stage.storeledger("actions", "retry", path, "--json")
        try #require(outcome.code == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Plan.self, from: Data(outcome.output.utf8))
    }

    /// Lets the approvals expire.
    ///
    /// An approval is never changed, so this goes around the trigger.
    func expireApprovals() async throws {
        try await stage.book().with {
            try $0.script(
                """
                ALTER TABLE action_batches DISABLE TRIGGER record_approval;
                UPDATE action_batches SET approval_expires_at = now() - interval '1 minute';
                ALTER TABLE action_batches ENABLE TRIGGER record_approval
                """
            )
        }
    }

    func send(_ path: String, expecting code: Int32 = 0, _ location: SourceLocation = #_sourceLocation) async throws
        -> Stage.Outcome
    {
        let outcome = try await stage.storeledger("actions", "run", path)
        #expect(outcome.code == code, "\(outcome.errors)\(outcome.output)", sourceLocation: location)
        return outcome
    }

    /// The rows of a result file by their positions in the input, without the header.
    func results(_ file: String) throws -> [Int: [String: String]] {
        let bytes = try Data(contentsOf: URL(filePath: stage.store.directory + "/out/\(file).csv"))
        let records = try CSVText(Array(bytes)).records
        let header = try #require(records.first).map { $0 ?? "" }
        return Dictionary(
            uniqueKeysWithValues: records.dropFirst().compactMap { record in
                let cells = Dictionary(uniqueKeysWithValues: zip(header, record.map { $0 ?? "" }))
                return cells["outcome_position"].flatMap { Int($0) }.map { ($0, cells) }
            }
        )
    }

    /// Expects that the four files have every row of the input exactly once.
    func expectEveryRowOnce(_ count: Int, _ location: SourceLocation = #_sourceLocation) throws {
        var found: [Int] = []
        for file in ["succeeded", "rejected", "unprocessed", "unknown"] { found += try results(file).keys }
        #expect(found.sorted() == Array(1...count), sourceLocation: location)
    }

    /// One group of equal requests, as the simulator counts them.
    struct Applied: Decodable, Sendable {
        let endpoint: String
        let transactionId: String?
        let requestIdentifier: String?
        let requested, applied: Int
    }

    func applied() async throws -> [Applied] { try await stage.store.actions(as: Applied.self) }

    /// Runs `actions run` until it kills itself at a crash point.
    ///
    /// - Returns: Whether it reached the point.
    func kill(_ path: String, at point: String) async throws -> Bool {
        let variables = ["DATABASE_URL": stage.databaseURL(), "STORELEDGER_FAILPOINT": "\(point)=kill"]
        return try await withChildProcess(Executables.failpoints, ["actions", "run", path], environment: variables) {
            process in
            await process.wait()
            return process.errors.contains("failpoint ")
        }
    }

    /// Runs `actions run` until Apple's first 429 has closed an endpoint, stops it during `body`, and lets it end.
    ///
    /// The rows that wait behind the 429 are decided after `body`, however slow the machine is.
    func interrupt(_ path: String, behind429 body: () async throws -> Void) async throws -> Stage.Outcome {
        try await stage.store.setFaults(
            #"{"rules": [{"endpoint": "extendRenewalDate", "atRequest": 1, "fault": "rateLimited", "retryAfter": ["1"]}]}"#
        )
        let variables = ["DATABASE_URL": stage.databaseURL(), "STORELEDGER_FAILPOINT": "closingCommitted@1=stop"]
        return try await withChildProcess(Executables.failpoints, ["actions", "run", path], environment: variables) {
            process in
            let line = await process.errorLine(with: "failpoint ")
            try #require(line != nil, "\(process.errors)")
            try await body()
            try await process.resume()
            return Stage.Outcome(code: await process.wait(), output: process.output, errors: process.errors)
        }
    }

    /// Ends the leases of killed processes, as waiting a minute would do.
    func endLeases() async throws {
        try await stage.book().change(
            "UPDATE action_rows SET claimable_at = clock_timestamp() WHERE lease_owner IS NOT NULL"
        )
    }
}
