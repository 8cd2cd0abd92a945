import FoundationEssentials
import Glibc
package import Postgres

/// A PostgreSQL server for one test, started by `scripts/lib/postgres.sh`.
///
/// It is for tests that would disturb the shared server: kills, a full disk, and a changed clock.
package final class OwnPostgres: Sendable {
    /// A connection string.
    package let conninfo: String
    private let directory: String
    private let library: String?

    /// Runs a server in `directory` during `body`.
    ///
    /// With a `library` of Tests/Shims/clock.c its clock can be set.
    package static func running<Result>(
        in directory: String,
        library: String? = nil,
        _ body: (OwnPostgres) async throws -> Result
    ) async throws -> Result {
        let server = OwnPostgres(directory: directory, library: library, conninfo: "")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        // The server reads this file each time it needs the time.
        try server.setClock(by: 0)
        let conninfo = try await server.start()
        do {
            let result = try await body(OwnPostgres(directory: directory, library: library, conninfo: conninfo))
            try await server.script("postgres_remove \"$directory\"")
            return result
        } catch {
            try await server.script("postgres_remove \"$directory\"")
            throw error
        }
    }

    private init(directory: String, library: String?, conninfo: String) {
        self.directory = directory
        self.library = library
        self.conninfo = conninfo
    }

    /// A new pool, because the sessions of an old one end with the server.
    package func pool() -> PostgresPool {
        PostgresPool(conninfo: ConnectionString(conninfo), size: 1, patience: .seconds(20))
    }

    /// Sets the server's clock to this many seconds from the true time.
    package func setClock(by seconds: Int) throws {
        let path = directory + ".clock"
        try Data("\(seconds < 0 ? "" : "+")\(seconds)\n".utf8).write(to: URL(filePath: path + ".new"))
        unsafe chmod(path + ".new", 0o644)
        unsafe rename(path + ".new", path)
    }

    /// Kills the server's first process, waits until the others have ended, and starts the server again.
    package func killAndStartAgain() async throws {
        try await script(
            """
            home=$(postgres_home "$directory")
            kill -9 "$(head -n 1 "$home/data/postmaster.pid")"
            """
        )
        _ = try await start()
    }

    /// Starts the server, unless it is running.
    @discardableResult
    package func start() async throws -> String {
        // After a kill the server cannot start before its last process has ended.
        try await script(
            """
            if [[ -n '\(library ?? "")' ]]; then
                # Only for the server itself, after the change of user.
                eval "$(declare -f postgres_as_owner | sed '1s/.*/owner_plainly ()/')"
                postgres_as_owner() {
                    owner_plainly env LD_PRELOAD='\(library ?? "")' CLOCK_FILE="$directory.clock" "$@"
                }
            fi
            for attempt in 1 2 3 4 5 6 7 8 9 10; do
                if POSTGRES_FAST=1 postgres_start "$directory" 2>"$directory.errors"; then break; fi
                if ((attempt == 10)); then cat "$directory.errors" >&2; exit 1; fi
                sleep 0.5
            done
            printf '%s\\n' "$DATABASE_URL"
            """
        )
    }

    @discardableResult
    private func script(_ text: String) async throws -> String {
        let script = "set -euo pipefail; . \(Executables.checkout)/scripts/lib/postgres.sh; directory=$1; \(text)"
        let path = "/usr/local/bin:/usr/bin:/bin"
        return try await withChildProcess("/bin/bash", ["-c", script, "bash", directory], environment: ["PATH": path]) {
            let code = await $0.wait()
            guard code == 0 else { throw Failed(text: $0.errors) }
            return $0.output.split(separator: "\n").last.map(String.init) ?? ""
        }
    }

    package struct Failed: Error {
        let text: String
    }
}
