import FoundationEssentials

/// The paths of the programs under test.
package enum Executables {
    /// The environment variable with their directory; the default is the directory of this test's executable.
    package static let variable = "STORELEDGER_BIN"

    package static var storeledger: String { folder + "/storeledger" }
    package static var simulator: String { folder + "/appstore-simulator" }
    /// `storeledger` that can be killed at crash points.
    package static var failpoints: String { folder + "/storeledger-failpoints" }

    private static let folder: String = {
        if let named = ProcessInfo.processInfo.environment[variable], !named.isEmpty { return named }
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""  // then below
        // `swift test` may run the tests with a helper of the toolchain, whose command line contains their path.
        for path in [own] + CommandLine.arguments {
            let folder = URL(filePath: path).deletingLastPathComponent().path
            if FileManager.default.isExecutableFile(atPath: folder + "/storeledger") { return folder }
        }
        return "."
    }()

    /// The checkout these tests were compiled from.
    package static let checkout = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path
}
