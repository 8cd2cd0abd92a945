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
        "PYTHONPATH": [".build-python", ".build-dbt", ".build-s3", ".build-chdb"].map {
            "\(Executables.checkout)/\($0)"
        }.joined(
            separator: ":"
        )
            + (ProcessInfo.processInfo.environment["PYTHONPATH"].map { ":" + $0 } ?? ""),
        // Requests to loopback do not use this machine's proxy.
        "NO_PROXY": "*",
    ]

    /// Whether Python and these modules are installed.
    ///
    /// Python looks for the files of each list once, because each test of a suite needs the result. An import of dbt would take
    /// seconds.
    package static func canImport(_ modules: String...) async -> Bool {
        let asked = answers.withLock { answers in
            let asked =
                answers[modules]
                ?? Task.detached {
                    // Any failure means "no".
                    let script = """
                        import pathlib, sys
                        files = [module.replace(".", "/") for module in sys.argv[1:]]
                        found = [any(pathlib.Path(path, file + end).exists() for path in sys.path for end in ["", ".py"]) for file in files]
                        sys.exit(not all(found))
                        """
                    let arguments = ["python3", "-c", script] + modules
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
    ///   - variables: Of the script's environment, besides the usual ones.
    /// - Returns: What it wrote to stdout.
    /// - Throws: ``Failure`` with what it wrote to stderr.
    package static func run(
        _ path: String,
        _ arguments: String...,
        variables: [String: String] = [:]
    ) async throws -> String {
        try await during(path, arguments, variables: variables) { process in
            guard await process.wait() == 0 else { throw Failure(description: process.errors) }
            return process.output
        }
    }

    /// Runs a script during `body`; see ``run(_:_:variables:)``.
    package static func during<Result>(
        _ path: String,
        _ arguments: [String],
        variables: [String: String] = [:],
        _ body: (ChildProcess) async throws -> Result
    ) async throws -> Result {
        let arguments = ["python3", "\(Executables.checkout)/Tests/\(path)"] + arguments
        return try await withChildProcess(
            "/usr/bin/env",
            arguments,
            environment: environment.merging(variables) { $1 },
            body
        )
    }
}
