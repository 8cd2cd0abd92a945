import AppStoreModel
package import JobFiles
import Ledger
import LedgerSchema

extension Pipeline {
    /// Checks that the ledger's records of the job's app are signed under roots that this job trusts.
    ///
    /// Writes nothing.
    ///
    /// - Throws: ``Ledger/OtherOrigin``.
    package func checkOrigins(_ trustedRoots: [String]) async throws {
        try await ledger.check(origins(of: try await knownApps(), trustedRoots))
    }

    /// Records the server and roots of the app's records, in every environment that the job requests.
    ///
    /// - Parameters:
    ///   - trustedRoots: The fingerprints of the roots.
    ///   - asksServer: Whether the command requests records from the server; if not, the stored server is kept.
    /// - Returns: Messages for the operator.
    /// - Throws: ``Ledger/OtherOrigin``; then nothing is written.
    package func claimOrigins(_ trustedRoots: [String], asksServer: Bool) async throws -> [String] {
        try await ledger.claim(origins(of: try await knownApps(), trustedRoots), asksServer: asksServer)
    }

    private func origins(
        of apps: [(app: AppID, environment: AppStoreEnvironment)],
        _ trustedRoots: [String]
    ) -> [AppID: RecordOrigin] {
        var origins: [AppID: RecordOrigin] = [:]
        for (app, environment) in apps {
            let server = environment == job.app.environment ? job.appStore.baseURL : job.sandboxURL
            origins[app] = RecordOrigin(server: server, trustedRoots: trustedRoots)
        }
        return origins
    }
}

extension RequestingJob {
    /// The first message of a run against a server other than Apple's; `nil` for Apple's server.
    package func rehearsalSentence(_ trustedRoots: [String]) -> String? {
        guard appStore.isLoopback else { return nil }
        let origin = RecordOrigin(server: appStore.baseURL, trustedRoots: trustedRoots)
        let roots = origin.trustedRoots.map { $0.prefix(16) + "…" }.joined(separator: " and ")
        return "Rehearsal: requests go to \(origin.server), records signed under root \(roots)"
            + "\(origin.isApple ? " (Apple's)" : "") are trusted"
    }
}
