import FoundationEssentials
import TestSupport

/// Apple's App Store Server Library for Python, run by Tests/AppleLibrary/check.py.
enum AppleLibrary {
    static let missing = "python3 or Apple's app-store-server-library is not installed; .ci/run installs it if it can"

    /// Its own folder of packages first, then those of the system.
    private static let environment: [String: String] = [
        "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
        "PYTHONPATH": Executables.checkout + "/.build-python",
        // A proxy of this machine is not asked for loopback.
        "NO_PROXY": "*",
    ]

    static func isInstalled() async -> Bool {
        // Any failure means "no".
        let code = try? await withChildProcess(
            "/usr/bin/env",
            ["python3", "-c", "import appstoreserverlibrary.api_client"],
            environment: environment
        ) { await $0.wait() }
        return code == 0
    }

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

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Reads the store in `directory` with the library.
    static func findings(in directory: String) async throws -> Findings {
        try await withChildProcess(
            "/usr/bin/env",
            ["python3", Executables.checkout + "/Tests/AppleLibrary/check.py", directory],
            environment: environment
        ) { process in
            guard await process.wait() == 0 else { throw Failure(description: process.errors) }
            return try JSONDecoder().decode(Findings.self, from: Data(process.output.utf8))
        }
    }
}
