import FoundationEssentials
import Synchronization

/// A Python script of the tests, with the packages that `install_python_packages` of scripts/lib/install.sh installs.
package enum PythonScript {
    /// A script that ended with an exit code other than 0.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    /// Its own folders of packages first, then the folders that `PYTHONPATH` names, then the system's folders.
    private static let environment: [String: String] = [
        "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
        "PYTHONPATH": "\(Executables.checkout)/.build-python:\(Executables.checkout)/.build-dbt"
            + (ProcessInfo.processInfo.environment["PYTHONPATH"].map { ":" + $0 } ?? ""),
        // Requests to loopback do not use this machine's proxy.
        "NO_PROXY": "*",
    ]

    /// Whether Python and these modules are installed.
    ///
    /// Python runs once for each list, because an import takes up to a second and each test of a suite needs the
    /// result.
    package static func canImport(_ modules: String...) async -> Bool {
        let asked = answers.withLock { answers in
            let asked =
                answers[modules]
                ?? Task.detached {
                    // Any failure means "no".
                    let arguments = ["python3", "-c", "import " + modules.joined(separator: ", ")]
                    let code = try? await withChildProcess("/usr/bin/env", arguments, environment: environment) {
                        await $0.wait()
                    }
                    return code == 0
                }
            answers[modules] = asked
            return asked
        }
        return await asked.value
    }

    private static let answers = Mutex<[[String]: Task<Bool, Never>]>([:])

    /// Whether a Java machine is installed.
    package static func hasJava() async -> Bool {
        let code = try? await withChildProcess("/usr/bin/env", ["java", "-version"], environment: environment) {
            await $0.wait()
        }
        return code == 0
    }

    /// Runs a script.
    ///
    /// - Parameters:
    ///   - path: Below the folder Tests.
    ///   - arguments: Of the script.
    /// - Returns: What it wrote to stdout.
    /// - Throws: ``Failure`` with what it wrote to stderr.
    package static func run(_ path: String, _ arguments: String...) async throws -> String {
        let arguments = ["python3", "\(Executables.checkout)/Tests/\(path)"] + arguments
        return try await withChildProcess("/usr/bin/env", arguments, environment: environment) { process in
            guard await process.wait() == 0 else { throw Failure(description: process.errors) }
            return process.output
        }
    }
}
