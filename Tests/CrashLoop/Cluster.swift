import FoundationEssentials
import Glibc
import TestSupport

/// The private PostgreSQL server of the crash loop, with methods to kill it.
struct Cluster: Sendable {
    /// The directory for `postgres_start` of `scripts/lib/postgres.sh`.
    let directory: String
    /// The path of `scripts/lib/postgres.sh`.
    let library: String
    /// A URL with a query part.
    let url: String

    func url(database: String, as name: String, password: String? = nil) -> String {
        // libpq uses the last of two values for one keyword.
        "\(url)&dbname=\(database)&application_name=\(name)" + (password.map { "&password=\($0)" } ?? "")
    }

    /// Sends SIGKILL to the first process, then restarts the server.
    func killPostmaster() async throws {
        kill(try await postmaster(), SIGKILL)
        try await start()
    }

    /// Sends SIGKILL to one process that serves `database`; the server then restarts all others.
    ///
    /// - Returns: `false` when there was no connection.
    func killBackend(process: Int) async throws -> Bool {
        guard kill(pid_t(process), SIGKILL) == 0 else { return false }
        return true
    }

    /// Stops the server without a checkpoint, then restarts it.
    func stopAtOnce() async throws {
        try await shell("postgres_as_owner \"$(postgres_bindir)/pg_ctl\" stop -m immediate -s -w -D \"$home/data\"")
        try await start()
    }

    /// Sets the server's clock to this many seconds from the true time.
    ///
    /// The server reads it each time it needs the time; see `POSTGRES_CLOCK` in `scripts/lib/postgres.sh`.
    func setClock(by seconds: Int) throws { try OwnPostgres.setClock(of: directory, by: seconds) }

    private func postmaster() async throws -> pid_t {
        let text = try await shell("head -n 1 \"$home/data/postmaster.pid\"")
        guard let process = pid_t(text.filter(\.isNumber)) else {
            throw SetUpFailure(code: 69, sentence: "postmaster.pid names no process")
        }
        return process
    }

    private func start() async throws {
        // After a kill, the server cannot start before its other processes have ended.
        try await shell(
            """
            for attempt in {1..50}; do
                if POSTGRES_FAST=1 postgres_start "$1" 2>/dev/null; then exit 0; fi
                sleep 0.1
            done
            POSTGRES_FAST=1 postgres_start "$1"
            """
        )
    }

    @discardableResult
    private func shell(_ script: String) async throws -> String {
        let text = "set -eu; . \"$0\"; home=$(postgres_home \"$1\"); \(script)"
        let own = ProcessInfo.processInfo.environment
        let environment = [
            "PATH": own["PATH"] ?? "/usr/bin:/bin", "POSTGRES_CLOCK": own["POSTGRES_CLOCK"] ?? "",
        ]
        return try await withChildProcess("/bin/bash", ["-c", text, library, directory], environment: environment) {
            process in
            let code = await process.wait()
            guard code == 0 else { throw SetUpFailure(code: 69, sentence: "PostgreSQL: \(process.errors)") }
            return process.output
        }
    }
}

/// The crash loop itself cannot continue; this is not a fault of the pipeline.
struct SetUpFailure: Error, CustomStringConvertible {
    /// One of the exit codes in `docs/reference/exit-codes.md`.
    let code: Int32
    let sentence: String

    var description: String { sentence }
}

/// The pipeline violated an invariant.
struct BrokenInvariant: Error {
    let sentences: [String]

    /// Does nothing for an empty list.
    static func check(_ sentences: [String]) throws(BrokenInvariant) {
        if !sentences.isEmpty { throw BrokenInvariant(sentences: sentences) }
    }
}
