import AppStoreModel
import Basics
import JobFiles
import Ledger
import LedgerSchema
import Pipeline
import SignedData
import Status

extension ReceiverPipeline {
    /// Checks everything that `receive` needs, and skips checks that depend on a failed one; sends nothing and listens nowhere.
    func check(_ diagnostics: Diagnostics) async {
        let fingerprints = await diagnostics.check("roots") {
            let sentence =
                job.trustedRoots.isEmpty
                ? "Apple Root CA - G3 is trusted" : "the job's own roots are trusted (rehearsal)"
            return (try Credentials.trust(roots: job.trustedRoots).fingerprints, sentence)
        }
        if let file = job.receiver.sharedSecretFile {
            await diagnostics.passes("shared secret") {
                _ = try SharedSecret.load(file: file)
                return "readable; notifications of version 1 are accepted"
            }
        }
        if !job.receiver.forwards.isEmpty {
            await diagnostics.passes("forwarding") {
                let urls = job.receiver.forwards.map(\.name).joined(separator: ", ")
                return "notifications are posted to \(urls), which was not tried"
            }
        }
        let records: Void? = await diagnostics.checkLedger(ledger) {
            await diagnostics.passes("role") {
                "\(try await ledger.receiverRole()) stores notifications and their records"
            }
            await diagnostics.passes("app") { try await appFinding() }
        }
        guard records != nil, let fingerprints else { return }
        let originMatches = await diagnostics.passes("origin") {
            if let app = try await knownApp() { try await ledger.check([app: origin(fingerprints)]) }
            return "the job accepts notifications that Apple signed for \(job.baseURL)"
        }
        guard originMatches else { return }
        await diagnostics.passes("notifications") { try await notificationsFinding() }
    }

    private func appFinding() async throws -> String {
        let (bundleId, environment) = (job.app.bundleId, job.app.environment.rawValue)
        try await ledger.checkApp(bundleId: bundleId, environment: environment, appAppleId: job.app.appAppleId)
        let name = "\(bundleId) in \(environment)"
        return try await knownApp() == nil ? "\(name) is new in this ledger" : "\(name) agrees with the ledger"
    }

    private func notificationsFinding() async throws -> String {
        let status = try await status()
        guard let receiver = status.receiver else {
            return "none was received yet; start storeledger receive JOB, and request a test notification"
        }
        let pending = status.pending == 0 ? "all are records" : "\(status.pending) are not records yet"
        return "the last one was received at \(receiver.lastReceivedAt); \(pending)"
    }
}
