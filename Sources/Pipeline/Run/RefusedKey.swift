import AppStoreModel
import Crawl
import JobFiles
import Ledger
import LedgerSchema
import SignedData

extension AppleProbe {
    /// How many other apps of the ledger are tried.
    private static let mostApps = 3

    /// Adds to the report of a refused key which value is wrong, as far as a probe can show it.
    ///
    /// Apple's 401 has no body, so it does not name the wrong value. A request with one value replaced by one that the name of the
    /// key file or the ledger knows names it if Apple accepts the request.
    ///
    /// - Parameters:
    ///   - report: Of an answer with status 401; any other is returned unchanged.
    ///   - app: The app whose budget in the ledger counts the requests, at most five.
    /// - Returns: The report with its remedy.
    func explaining(_ report: FailureReport, countingFor app: AppID?) async -> FailureReport {
        guard report.status == 401, report.remedy == nil else { return report }
        var report = report
        report.remedy = await wrongValue(countingFor: app) ?? suspects
        return report
    }

    /// The wrong value, if another one in its place is accepted.
    private func wrongValue(countingFor app: AppID?) async -> String? {
        let (tokens, appStore) = (credentials.tokens(), job.appStore)
        if let fileName, let named = fileName.keyId, named != appStore.keyId,
            await accepts(tokens.with(keyId: named), countingFor: app)
        {
            return """
                Wrong key ID: Apple accepts the key with the ID \(named), which the name \(fileName.name) has, and not with \
                \(appStore.keyId). Correct appStore.keyId.
                """
        }
        let other: AppStoreEnvironment = job.app.environment == .production ? .sandbox : .production
        if !appStore.isLoopback, await accepts(tokens, at: other.baseURL, countingFor: app) {
            return """
                Apple accepts the key in \(other.rawValue), and not in \(job.app.environment.rawValue): correct app.environment. An app \
                that was never released exists only in Sandbox.
                """
        }
        let known = (try? await ledger.appsInUse()) ?? []
        let others = known.filter { $0.environment == job.app.environment.rawValue && $0.bundleId != job.app.bundleId }
        for bundleId in others.map(\.bundleId).prefix(Self.mostApps) {
            guard await accepts(tokens.with(bundleId: bundleId), countingFor: app) else { continue }
            return """
                Wrong bundle ID: Apple accepts the key for \(bundleId), and not for \(job.app.bundleId). Correct app.bundleId, or use a \
                key of the account that has this app.
                """
        }
        return nil
    }

    /// `nil` if the key is in a variable.
    private var fileName: KeyFileName? { job.appStore.privateKey.path.map(KeyFileName.init) }

    /// What can be wrong if no other value is accepted, the likeliest first.
    private var suspects: String {
        let page = "App Store Connect > Users and Access > Integrations > In-App Purchase"
        let key =
            switch (fileName?.warning(keyId: job.appStore.keyId), fileName?.keyId) {
            case (let warning?, _): "Probably a wrong key: \(warning)."
            case (nil, nil): "A wrong key or key ID: compare appStore.keyId and the key."
            case (nil, _?):
                "The key ID agrees with the name of the key file, so the key was revoked, or one of these is wrong:"
            }
        return """
            \(key) Wrong issuer: compare appStore.issuerId with the issuer ID on the page \(page), which also shows whether the key is \
            active. Wrong bundle ID: compare app.bundleId with App Information; the app must be of the same account. An app that was \
            never released exists only in Sandbox. Check this machine's clock.
            """
    }
}
