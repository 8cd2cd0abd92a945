import ActionKinds
package import Actions
import AppStoreAPI
import AppStoreModel
package import Basics
import HTTPTransport
package import JobFiles
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
    package init(job: ActionJob, at address: LedgerAddress, time: Timekeeper = .system) {
        self.job = job
        self.time = time
        ledger = address.ledger(sessions: 2)
    }

    /// Opens the ledger for the batches of the job's app.
    ///
    /// - Throws: ``Actions/ActionRefusal/appUnknown(bundleId:environment:)`` if no crawl has loaded records of the app.
    package func actions() async throws -> ActionLedger {
        try await ledger.open()
        let environment = job.app.environment.rawValue
        guard let app = try await ledger.knownApp(bundleId: job.app.bundleId, environment: environment) else {
            throw ActionRefusal.appUnknown(bundleId: job.app.bundleId, environment: environment)
        }
        return ActionLedger(ledger: ledger, app: app, job: job)
    }

    /// Opens the ledger as ``actions()`` does, and checks that its records are from the server that the job sends to.
    ///
    /// Requests to the simulator must not be based on records of the App Store, and requests to the App Store must not be based on
    /// records of the simulator.
    ///
    /// - Throws: ``Ledger/OtherOrigin``, and as ``actions()``.
    func actions(trusting roots: [String]) async throws -> ActionLedger {
        let actions = try await actions()
        try await ledger.check([actions.app: origin(roots)])
        return actions
    }

    /// Opens the ledger as ``actions(trusting:)`` does, to send.
    ///
    /// Approvals expire and answers become too late by the ledger's clock, and what was sent by a wrong clock cannot be taken back.
    ///
    /// - Throws: ``ClockIsOff`` if that clock and this machine's differ by more than a minute, and as ``actions(trusting:)``.
    func actionsToSend(trusting roots: [String]) async throws -> ActionLedger {
        let actions = try await actions(trusting: roots)
        let offset = try await ledger.now() - UnixMilliseconds(rawValue: time.wallClock())
        if let off = ClockIsOff(offset, of: "PostgreSQL") { throw off }
        return actions
    }

    /// The server that the job sends to, and whose records the ledger must have.
    package func origin(_ roots: [String]) -> RecordOrigin {
        RecordOrigin(server: job.appStore.baseURL, trustedRoots: roots)
    }

    /// Plans a batch of the job's input; sends nothing.
    package func plan() async throws -> BatchSummary {
        if case .folder(let path) = job.input { return try await planMessages(in: path) }
        if job.action.changesRealtimeURL { return try await planRealtimeURL() }
        let source = try BatchSource(job.input)
        let actions = try await actions(trusting: try Credentials.trust(of: job).fingerprints)
        return try await actions.summary(of: try await actions.plan(source))
    }

    /// Plans the rejected rows of the last batch as a new batch; sends nothing.
    ///
    /// - Parameter path: A CSV file with corrected rows, which replace the rejected ones; `nil` for the rows as they were.
    package func retry(csv path: String?) async throws -> BatchSummary {
        let actions = try await actions(trusting: try Credentials.trust(of: job).fingerprints)
        let source = if let path { try BatchSource(csv: path) } else { try await actions.rejectedRows() }
        return try await actions.summary(of: try await actions.plan(source))
    }

    /// A sentence if the input file has changed since the batch was planned.
    package func changeOfInput(of batch: ActionBatch) -> String? {
        guard let path = batch.inputName, let planned = batch.inputSHA256,
            // A missing file does not matter: the batch no longer needs it.
            let now = try? BatchSource.sha256(of: path), now != planned
        else { return nil }
        return "\(path) has changed since the batch was planned. The batch stays as it was planned"
    }
}
