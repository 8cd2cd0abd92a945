import FoundationEssentials
import TestSupport

/// Apple's App Store Server Library for Python, run by the scripts in Tests/AppleLibrary.
enum AppleLibrary {
    static let missing = "python3 or Apple's app-store-server-library is not installed; .ci/run installs it if it can"

    static func isInstalled() async -> Bool { await PythonScript.canImport("appstoreserverlibrary.api_client") }

    /// What the library read, checked against itself; see check.py.
    struct Findings: Decodable {
        /// Status by original transaction ID.
        let statuses: [String: Int]
        /// By the ID in ids.csv.
        let appTransactions: [String: String]
        let orders: [String: [String]]
        let historyV1: [String: [String]]
        let refundsV1: [String: [String]]
    }

    /// Reads the store in `directory` with the library.
    static func findings(in directory: String) async throws -> Findings {
        let output = try await PythonScript.run("AppleLibrary/check.py", directory)
        return try JSONDecoder().decode(Findings.self, from: Data(output.utf8))
    }

    /// How many requests of each kind the store accepted; see actions.py.
    struct Accepted: Decodable {
        struct Consumption: Decodable {
            let v1: Int
            let v2: Int
        }
        let extended: Int
        /// The subscriptions that were extended or could not be.
        let extendedForAll: Int
        let consumption: Consumption
        let tokens: Int
        let testNotifications: Int
        let messages: Int
        let performanceTests: Int
    }

    /// Changes the store in `directory` with the library, and checks every effect.
    static func actions(in directory: String) async throws -> Accepted {
        let output = try await PythonScript.run("AppleLibrary/actions.py", directory)
        return try JSONDecoder().decode(Accepted.self, from: Data(output.utf8))
    }

    /// Verifies the files that `storeledger sign` wrote into `directory`, and compares them with the library's own signatures.
    ///
    /// - Returns: The number of signatures of each kind; see sign.py.
    static func signatures(
        in directory: String,
        _ keyId: String,
        _ issuerId: String,
        _ bundleId: String
    ) async throws -> [String: Int] {
        let output = try await PythonScript.run("AppleLibrary/sign.py", directory, keyId, issuerId, bundleId)
        return try JSONDecoder().decode([String: Int].self, from: Data(output.utf8))
    }
}
