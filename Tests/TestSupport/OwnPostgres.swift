import FoundationEssentials
import Glibc
package import Postgres

/// A PostgreSQL server of a test's own, for what must not happen to the one all tests share: kills, a full disk, and a
/// clock that is set.
///
/// Started by `scripts/lib/postgres.sh`.
package final class OwnPostgres: Sendable {
    /// A connection string.
    package let conninfo: String
    private let directory: String
    private let library: String?

    /// Runs a server in `directory` beside `body`, its clock to be set where there is a `library` of Tests/Shims/clock.c.
    package static func running<Result>(
        in directory: String,
        library: String? = nil,
        _ body: (OwnPostgres) async throws -> Result
    ) async throws -> Result {
        let server = OwnPostgres(directory: directory, library: library, conninfo: "")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        // The server's user reads it each time somebody asks for the time.
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

    /// Makes a new pool: sessions of an old one end with the server.
    package func pool() -> PostgresPool {
        PostgresPool(conninfo: ConnectionString(conninfo), size: 1, patience: .seconds(20))
    }

    /// Sets the server's clock: so many seconds from the true time.
    package func setClock(by seconds: Int) throws {
        let path = directory + ".clock"
        try Data("\(seconds < 0 ? "" : "+")\(seconds)\n".utf8).write(to: URL(filePath: path + ".new"))
        unsafe chmod(path + ".new", 0o644)
        unsafe rename(path + ".new", path)
    }

    /// Kills the server's first process, as a machine out of memory would, waits until the others noticed, and starts it again.
    package func killAndStartAgain() async throws {
        try await script(
            """
            home=$(postgres_home "$directory")
            kill -9 "$(head -n 1 "$home/data/postmaster.pid")"
            """
        )
        _ = try await start()
    }

    /// Starts the server, unless it runs.
    @discardableResult
    package func start() async throws -> String {
        // A server that was killed is in the way until its last child has noticed.
        try await script(
            """
            if [[ -n '\(library ?? "")' ]]; then
                # Only for the server, after the change of user.
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
