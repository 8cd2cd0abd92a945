import FoundationEssentials
import Glibc
import TestSupport

/// The private PostgreSQL that everything runs on, and the ways to hurt it.
struct Cluster: Sendable {
    /// What `postgres_start` of `scripts/lib/postgres.sh` was given.
    let directory: String
    /// That file.
    let library: String
    /// A URL with a query part.
    let url: String

    func url(database: String, as name: String, password: String? = nil) -> String {
        // Of a value that is named twice, libpq takes the last.
        "\(url)&dbname=\(database)&application_name=\(name)" + (password.map { "&password=\($0)" } ?? "")
    }

    /// SIGKILL to the first process, then a new start.
    func killPostmaster() async throws {
        kill(try await postmaster(), SIGKILL)
        try await start()
    }

    /// SIGKILL to one of the processes that serve `database`; the server restarts all others by itself.
    ///
    /// - Returns: `false` when nobody was connected.
    func killBackend(process: Int) async throws -> Bool {
        guard kill(pid_t(process), SIGKILL) == 0 else { return false }
        return true
    }

    /// Like a power switch, but told to the server.
    func stopAtOnce() async throws {
        try await shell("postgres_as_owner \"$(postgres_bindir)/pg_ctl\" stop -m immediate -s -w -D \"$home/data\"")
        try await start()
    }

    private func postmaster() async throws -> pid_t {
        let text = try await shell("head -n 1 \"$home/data/postmaster.pid\"")
        guard let process = pid_t(text.filter(\.isNumber)) else {
            throw SetUpFailure(code: 69, sentence: "postmaster.pid names no process")
        }
        return process
    }

    private func start() async throws {
        // The processes of a killed server need a moment to notice, and until then another cannot start.
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
        let environment = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        return try await withChildProcess("/bin/bash", ["-c", text, library, directory], environment: environment) {
            process in
            let code = await process.wait()
            guard code == 0 else { throw SetUpFailure(code: 69, sentence: "PostgreSQL: \(process.errors)") }
            return process.output
        }
    }
}

/// The loop itself cannot go on; nothing is said about the pipeline.
struct SetUpFailure: Error, CustomStringConvertible {
    /// Of the exit codes in `docs/reference/exit-codes.md`.
    let code: Int32
    let sentence: String

    var description: String { sentence }
}

/// The pipeline broke what it promises.
struct BrokenPromise: Error {
    let sentences: [String]

    /// Passes when there is nothing to say.
    static func check(_ sentences: [String]) throws(BrokenPromise) {
        if !sentences.isEmpty { throw BrokenPromise(sentences: sentences) }
    }
}
