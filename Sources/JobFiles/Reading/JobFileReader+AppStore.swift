import AppStoreModel
import Basics
import JobSyntax

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
        "issuerId", "keyId", "privateKeyFile", "privateKey", "baseURL", "trustedRoots", "sandboxFallback",
    ]

    func appStore(_ file: Section, _ environment: AppStoreEnvironment) -> JobFile.AppStore? {
        guard
            let section = file.section(
                "appStore",
                keys: Self.appStoreKeys,
                required: "it must name issuerId, keyId and privateKeyFile or privateKey"
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
        let privateKey = privateKey(section)
        let server = server(section, environment)
        let trustedRoots = trustedRoots(section, server)
        let triesSandbox = section.flag("sandboxFallback") ?? false
        if triesSandbox, environment != .production {
            section.report("sandboxFallback", "only a Production job can fall back to Sandbox")
        }
        guard let issuerId, let keyId, let privateKey, let server else { return nil }
        return JobFile.AppStore(
            issuerId: issuerId,
            keyId: keyId,
            privateKey: privateKey,
            baseURL: server.text,
            requestURL: server.requestText,
            isLoopback: server.isLoopback,
            trustedRoots: trustedRoots,
            triesSandbox: triesSandbox
        )
    }

    /// The key's file, or the variable with the key itself; `nil` unless the section has exactly one of both.
    private func privateKey(_ section: Section) -> PrivateKeySource? {
        guard section.has("privateKey") else {
            let isEmpty = section.names("privateKey") && !section.has("privateKeyFile")
            if isEmpty { section.report("privateKey", Self.privateKeyRule) }
            return section.path(
                "privateKeyFile",
                "it must be the path of the .p8 file from App Store Connect",
                isRequired: !isEmpty,
                isSecret: true
            ).map { .file(paths.absolute($0)) }
        }
        if section.has("privateKeyFile") {
            let place = section.place(of: "privateKey")
            problems.report(place, "and privateKeyFile are both given", "remove one of them")
            return nil
        }
        guard let text = section.text("privateKey", Self.privateKeyRule, isSecret: true) else { return nil }
        // A job file is often copied and kept in a repository, so no part of the key may be written in it.
        guard let scalar = section.scalar("privateKey"), scalar.variables.count == 1, scalar.ownText.isEmpty else {
            problems.report(section.place(of: "privateKey"), "is a text (not shown)", Self.privateKeyRule)
            return nil
        }
        return .variable(name: scalar.variables[0], text: text)
    }

    private static let privateKeyRule = """
        it must be one environment variable with the text of the .p8 file, such as "${APPSTORE_PRIVATE_KEY}"; the path of a file \
        belongs into privateKeyFile
        """

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
        let roots =
            section.texts("trustedRoots", "it must be the path of a certificate file on this machine") {
                !$0.isEmpty && urlScheme(of: $0) == nil
            } ?? []
        if !roots.isEmpty, let server, !server.isLoopback {
            section.report("trustedRoots", "only a job with a loopback baseURL may trust another root than Apple's")
        }
        return roots.map(paths.absolute)
    }

    private func isBundleId(_ text: String) -> Bool {
        // It stands in paths, so it must be no name of another folder, such as "..".
        (1...155).contains(text.utf8.count) && text.utf8.contains(where: isLetterOrDigit)
            && text.utf8.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
    }
}
