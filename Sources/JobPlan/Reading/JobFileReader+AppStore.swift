import AppStoreModel
import Basics

extension JobFileReader {
    func app(_ file: Section) -> JobFile.App? {
        let keys = ["bundleId", "appAppleId", "environment"]
        guard
            let app = file.section("app", keys: keys, required: "it must name bundleId, appAppleId and environment")
        else { return nil }
        let bundleId = app.text(
            "bundleId",
            "it must be the app's bundle ID: letters, digits, - and ., such as com.example.game",
            isRequired: true,
            where: isBundleId
        )
        let environment = app.choice("environment", of: AppStoreEnvironment.self, isRequired: true)
        let appAppleId = app.integer(
            "appAppleId",
            in: 1...Int64.max,
            "it must be the app's Apple ID, a whole number such as 1234567890",
            isRequired: environment == .production
        )
        guard let bundleId, let environment else { return nil }
        return JobFile.App(bundleId: bundleId, appAppleId: appAppleId, environment: environment)
    }

    static let appStoreKeys = [
        "issuerId", "keyId", "privateKeyFile", "baseURL", "trustedRoots", "sandboxFallback",
    ]

    func appStore(_ file: Section, _ environment: AppStoreEnvironment) -> JobFile.AppStore? {
        guard
            let section = file.section(
                "appStore",
                keys: Self.appStoreKeys,
                required: "it must name issuerId, keyId and privateKeyFile"
            )
        else { return nil }
        let issuerId = section.text(
            "issuerId",
            "it must be the issuer ID from App Store Connect, a UUID such as 57246542-96fe-1a63-e053-0824d011072a",
            isRequired: true,
            isSecret: true,
            where: { UUIDText.bytes(of: $0) != nil }
        )
        let keyId = section.text(
            "keyId",
            "it must be the key ID from App Store Connect: letters and digits, such as 2X9R4HXF34",
            isRequired: true,
            isSecret: true
        ) { (1...32).contains($0.utf8.count) && $0.utf8.allSatisfy(isLetterOrDigit) }
        let privateKeyFile = section.text(
            "privateKeyFile",
            "it must be the path of the .p8 file from App Store Connect",
            isRequired: true,
            isSecret: true
        )
        let server = server(section, environment)
        let trustedRoots = trustedRoots(section, server)
        let triesSandbox = section.flag("sandboxFallback") ?? false
        if triesSandbox, environment != .production {
            section.report("sandboxFallback", "only a Production job can fall back to Sandbox")
        }
        guard let issuerId, let keyId, let privateKeyFile, let server else { return nil }
        return JobFile.AppStore(
            issuerId: issuerId,
            keyId: keyId,
            privateKeyFile: paths.absolute(privateKeyFile),
            baseURL: server.text,
            requestURL: server.requestText,
            isLoopback: server.isLoopback,
            trustedRoots: trustedRoots,
            triesSandbox: triesSandbox
        )
    }

    /// Apple's server if the file names none; `nil` if it names one that is not allowed.
    func server(_ section: Section, _ environment: AppStoreEnvironment) -> ServerAddress? {
        guard section.has("baseURL") else { return ServerAddress(environment.baseURL, in: environment) }
        let expected = """
            it must be on this machine, such as http://127.0.0.1:8080, or Apple's for \(environment.rawValue), \
            \(environment.baseURL) or \(environment.earlierBaseURL)
            """
        return section.text("baseURL", expected) { ServerAddress($0, in: environment) != nil }
            .flatMap { ServerAddress($0, in: environment) }
    }

    func trustedRoots(_ section: Section, _ server: ServerAddress?) -> [String] {
        let roots = section.texts("trustedRoots", "it must be the path of a certificate file") ?? []
        if !roots.isEmpty, let server, !server.isLoopback {
            section.report("trustedRoots", "only a job with a loopback baseURL may trust another root than Apple's")
        }
        return roots.map(paths.absolute)
    }

    private func isBundleId(_ text: String) -> Bool {
        (1...155).contains(text.utf8.count)
            && text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    }
}
