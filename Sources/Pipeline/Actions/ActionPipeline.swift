package import Actions
import AppStoreAPI
import AppStoreModel
package import Basics
import HTTPTransport
package import JobPlan
package import Ledger
import Normalize
import Postgres
import Publish
import RateLimit

/// Plans, approves and sends the batches of one job with an action.
///
///     input ─► plan ─► approve ─► lease ─► permit ─► intent committed ─► send ─► outcome committed ─► result files
package struct ActionPipeline: Sendable {
    package let job: ActionJob
    package let ledger: Ledger
    let time: Timekeeper

    /// Makes the pipeline; reads nothing and opens no connection.
    ///
    /// - Parameters:
    ///   - applicationName: The sessions' `application_name`, unless the connection string sets it.
    ///   - databaseDeadline: How long to wait until PostgreSQL is available, before ending with 69.
    ///   - waiting: Called with PostgreSQL's message, and again after each further attempt, while no session can be opened.
    package init(
        job: ActionJob,
        applicationName: String = "storeledger",
        databaseDeadline: Duration = .seconds(60),
        waiting: @escaping @Sendable (String) -> Void = { _ in },
        time: Timekeeper = .system
    ) {
        self.job = job
        self.time = time
        ledger = Ledger(
            conninfo: job.postgres.url.connectionString(applicationName: applicationName),
            schema: job.postgres.schema,
            sessions: 2,
            deadline: databaseDeadline,
            waiting: { waiting($0.message) }
        )
    }

    /// Opens the ledger for the batches of the job's app.
    ///
    /// - Throws: ``Actions/ActionRefusal/appUnknown(bundleId:environment:)`` if no crawl has loaded records of the app.
    func actions() async throws -> ActionLedger {
        try await ledger.open()
        let environment = job.app.environment.rawValue
        guard let app = try await ledger.knownApp(bundleId: job.app.bundleId, environment: environment) else {
            throw ActionRefusal.appUnknown(bundleId: job.app.bundleId, environment: environment)
        }
        return ActionLedger(ledger: ledger, app: app, job: job)
    }

    /// Opens the ledger as ``actions()`` does, and checks that its records are from the server that the job sends to.
    ///
    /// Requests of a rehearsal must not be based on records of the App Store, and requests to the App Store must not be based on
    /// records of a rehearsal.
    ///
    /// - Throws: ``Ledger/OtherOrigin``, and as ``actions()``.
    func actions(trusting roots: [String]) async throws -> ActionLedger {
        let actions = try await actions()
        try await ledger.check([actions.app: origin(roots)])
        return actions
    }

    /// The server that the job sends to, and whose records the ledger must have.
    func origin(_ roots: [String]) -> RecordOrigin {
        RecordOrigin(server: job.appStore.baseURL, trustedRoots: roots)
    }

    /// Plans a batch of the job's input; sends nothing.
    package func plan() async throws -> BatchSummary {
        let source = try BatchSource(job.input)
        let actions = try await actions(trusting: try Credentials.trust(of: job).fingerprints)
        return try await actions.summary(of: try await actions.plan(source))
    }

    /// Warnings about names in the job's query that exist both in the user's tables and in the ledger.
    package func queryWarnings() async throws -> [String] {
        job.readsQuery ? try await actions().queryWarnings() : []
    }

    /// Plans the rejected rows of the last batch as a new batch; sends nothing.
    ///
    /// - Parameter path: A CSV file with corrected rows, which replace the rejected ones; `nil` for the rows as they were.
    package func retry(csv path: String?) async throws -> BatchSummary {
        let actions = try await actions(trusting: try Credentials.trust(of: job).fingerprints)
        let source = if let path { try BatchSource(csv: path) } else { try await actions.rejectedRows() }
        return try await actions.summary(of: try await actions.plan(source))
    }

    /// Applies the job's policy to the refund requests of the last days; sends and stores nothing.
    package func rehearse(days: Int64) async throws -> PolicyRehearsal {
        try await actions().rehearse(days: days)
    }

    /// Approves a batch.
    ///
    /// - Parameters:
    ///   - hash: The SHA-256 that the plan showed.
    ///   - rows: The number of rows that will be sent.
    /// - Returns: The batch, and a remark if the input file has changed since the plan.
    package func approve(_ hash: String, rows: Int64) async throws -> (batch: ActionBatch, remark: String?) {
        let batch = try await actions().approve(hash, rows: rows)
        return (batch, changeOfInput(of: batch))
    }

    /// The job's batches and their rows by state, the newest first.
    package func status() async throws -> [BatchStatus] {
        let actions = try await actions()
        return try await actions.statuses(of: try await actions.batches())
    }

    /// Approves the job's policy, so that new refund requests are answered without an approval of each batch.
    ///
    /// - Parameters:
    ///   - hash: The SHA-256 that ``rehearse(days:)`` showed.
    ///   - rows: The most rows of all batches.
    ///   - term: How long the approval is in force.
    package func approvePolicy(_ hash: String, rows: Int64, for term: Duration) async throws -> PolicyApproval {
        try await actions().approvePolicy(hash, rows: rows, for: term)
    }

    /// Withdraws the approvals of the job's policy and of all of its batches.
    package func withdraw() async throws -> Withdrawal { try await actions().withdraw() }

    /// The newest approval of the job's policy; `nil` without one.
    package func policyApproval() async throws -> PolicyApproval? { try await actions().policyApproval() }

    /// A sentence if the input file has changed since the batch was planned.
    func changeOfInput(of batch: ActionBatch) -> String? {
        guard let path = batch.inputName, let planned = batch.inputSHA256,
            // A missing file does not matter: the batch no longer needs it.
            let now = try? BatchSource.sha256(of: path), now != planned
        else { return nil }
        return "\(path) has changed since the batch was planned. The batch stays as it was planned"
    }
}
