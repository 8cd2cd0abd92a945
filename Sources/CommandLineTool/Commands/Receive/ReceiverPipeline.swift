import Status
import AppStoreModel
import JobFiles
import Ledger
import LedgerSchema
import Pipeline

/// The job of a receiver, and its ledger.
struct ReceiverPipeline {
    let job: ReceiverJob
    let ledger: Ledger

    /// Reads nothing, and opens no connection.
    init(job: ReceiverJob, ledger: Ledger) {
        self.job = job
        self.ledger = ledger
    }

    /// Reads nothing, and opens no connection.
    init(job: ReceiverJob, at address: LedgerAddress) {
        self.init(job: job, ledger: address.ledger(sessions: 2))
    }

    /// Where the notifications are from that the job accepts.
    func origin(_ fingerprints: [String]) -> RecordOrigin {
        RecordOrigin(server: job.baseURL, trustedRoots: fingerprints)
    }

    /// What is known of the receivers of the job's app.
    func status() async throws -> ReceiverStatus {
        try await ledger.open()
        return try await ledger.receiverStatus(
            of: try await knownApp(),
            bundleId: job.app.bundleId,
            environment: job.app.environment.rawValue,
            job: job.name
        )
    }

    func knownApp() async throws -> AppID? {
        try await ledger.knownApp(bundleId: job.app.bundleId, environment: job.app.environment.rawValue)
    }
}
