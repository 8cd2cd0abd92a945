import AppStoreModel
import JobPlan
import Ledger

extension Pipeline {
    /// Makes sure that the ledger's records of the job's app are signed under the roots this job trusts.
    ///
    /// - Throws: ``Ledger/OtherOrigin``; nothing is written in any case.
    func checkOrigins(_ trustedRoots: [String]) async throws {
        try await ledger.check(origins(of: try await knownApps(), trustedRoots))
    }

    /// Files where the records of the job's app come from, in every environment the job asks.
    ///
    /// - Returns: Sentences for the operator.
    /// - Throws: ``Ledger/OtherOrigin``; then nothing is written.
    func claimOrigins(_ trustedRoots: [String], asksServer: Bool) async throws -> [String] {
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

    /// What a run says first that asks another server than Apple's; `nil` for Apple's.
    func rehearsalSentence(_ trustedRoots: [String]) -> String? {
        guard job.appStore.isLoopback else { return nil }
        let origin = RecordOrigin(server: job.appStore.baseURL, trustedRoots: trustedRoots)
        let roots = origin.trustedRoots.map { $0.prefix(16) + "…" }.joined(separator: " and ")
        return "Rehearsal: requests go to \(origin.server), records signed under root \(roots)"
            + "\(origin.isApple ? " (Apple's)" : "") are trusted"
    }
}
