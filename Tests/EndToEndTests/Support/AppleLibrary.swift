import FoundationEssentials
import TestSupport

/// Apple's App Store Server Library for Python, run by Tests/AppleLibrary/check.py.
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
}
