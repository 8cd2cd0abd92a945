import FoundationEssentials
import Glibc
package import Postgres

/// A PostgreSQL server for one test, started by `scripts/lib/postgres.sh`.
///
/// It is for tests that would disturb the shared server: kills, a full disk, a changed clock, and replicas.
package final class OwnPostgres: Sendable {
    /// A connection string.
    package let conninfo: String
    private let directory: String
    private let library: String?
    /// Options of the server.
    private let options: String

    /// Options of a server that has replicas.
    package static let replication =
        "-c wal_level=replica -c max_wal_senders=4 -c synchronous_commit=on -c wal_writer_delay=10ms"

    /// Runs a server in `directory` during `body`.
    ///
    /// - Parameters:
    ///   - directory: A new one; by default, one in memory where there is enough of it.
    ///   - template: The server begins as a copy of it, which saves `initdb` and a migration; `nil` for an empty database.
    ///   - library: Of Tests/Shims/clock.c, to set the server's clock.
    ///   - options: Further options of the server.
    ///   - body: Gets the server.
    package static func running<Result>(
        in directory: String? = nil,
        copyOf template: TemporaryDatabase.Template? = nil,
        library: String? = nil,
        options: String = "",
        _ body: (OwnPostgres) async throws -> Result
    ) async throws -> Result {
        let directory = if let directory { directory } else { try await scratch() }
        let server = OwnPostgres(directory: directory, library: library, options: options, conninfo: "")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        // The server reads this file each time it needs the time.
        try server.setClock(by: 0)
        return try await server.whileRunning(copyOf: template, body)
    }

    /// A new directory, in memory where there is enough of it.
    private static func scratch() async throws -> String {
        try await output(of: "postgres_scratch").replacing("\n", with: "")
    }

    /// Whether the server's installation has a library that it can load, such as `auto_explain`.
    ///
    /// Some packages have the server alone.
    package static func canLoad(_ library: String) async -> Bool {
        let search = "find -L \"$(postgres_bindir)/..\" -name '\(library).so'"
        // A failed search counts as no. The test is then skipped, and the output says so.
        return (try? await output(of: search))?.isEmpty == false
    }

    private func copy(_ files: String) async throws {
        try await script(
            """
            home=$(postgres_home "$directory")
            postgres_make_directory "$home"
            postgres_as_owner cp -a '\(files)' "$home/data"
            """
        )
    }

    /// Makes a cluster with a filled database, and stops its server.
    ///
    /// - Returns: The path of its files.
    static func makeCluster(
        in directory: String,
        _ fill: (_ conninfo: String) async throws -> Void
    ) async throws -> String {
        let server = OwnPostgres(directory: directory, library: nil, options: "", conninfo: "")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try await fill(try await server.start())
        try await server.script("postgres_stop \"$directory\"")
        return directory + "/data"
    }

    /// Runs a streaming replica of this server during `body`.
    ///
    /// - Parameters:
    ///   - options: Further options of the replica, in addition to ``replication``, which this server must have.
    ///   - body: Gets the replica.
    /// - Returns: What `body` returns.
    /// - Throws: ``Failed``, and the error of `body`.
    package func replicated<Result>(
        options: String = "",
        _ body: (OwnPostgres) async throws -> Result
    ) async throws -> Result {
        let options = "\(Self.replication) \(options)"
        let replica = OwnPostgres(directory: try await Self.scratch(), library: nil, options: options, conninfo: "")
        try await replica.script(
            """
            home=$(postgres_home "$directory")
            postgres_make_directory "$home"
            postgres_as_owner "$(postgres_bindir)/pg_basebackup" --dbname '\(conninfo)' --pgdata "$home/data" \
                --write-recovery-conf --checkpoint fast --no-sync
            """
        )
        return try await replica.whileRunning(body)
    }

    /// Waits until this replica has applied everything that its primary has committed so far.
    package func catchUp(with primary: OwnPostgres) async throws {
        let written = try await primary.pool().withConnection { connection in
            try connection.run("SELECT pg_current_wal_flush_lsn()::text AS place")[0].text("place")
        }
        let pool = pool()
        let sql = "SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn AS is_applied"
        while try await !pool.withConnection({ try $0.run(sql, [.text(written)])[0].bool("is_applied") }) {
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func whileRunning<Result>(
        copyOf template: TemporaryDatabase.Template? = nil,
        _ body: (OwnPostgres) async throws -> Result
    ) async throws -> Result {
        let outcome: Swift.Result<Result, any Error>
        do {
            if let template { try await copy(template.files) }
            let conninfo = try await start()
            let server = OwnPostgres(directory: directory, library: library, options: options, conninfo: conninfo)
            outcome = .success(try await body(server))
        } catch {
            outcome = .failure(error)
        }
        try await script("postgres_remove \"$directory\"")
        return try outcome.get()
    }

    private init(directory: String, library: String?, options: String, conninfo: String) {
        self.directory = directory
        self.library = library
        self.options = options
        self.conninfo = conninfo
    }

    /// A new pool, because the sessions of an old one end with the server.
    package func pool() -> PostgresPool {
        PostgresPool(conninfo: ConnectionString(conninfo), size: 1, patience: .seconds(20))
    }

    /// Sets the server's clock to this many seconds from the clock of the tests.
    package func setClock(by seconds: Int) throws { try Self.setClock(of: directory, by: seconds) }

    /// Sets the clock of the server in `directory`, which was started with `POSTGRES_CLOCK` of `scripts/lib/postgres.sh`.
    package static func setClock(of directory: String, by seconds: Int) throws {
        let path = directory + ".clock"
        try TestClock.file(ahead: seconds).write(to: URL(filePath: path + ".new"))
        unsafe chmod(path + ".new", 0o644)
        unsafe rename(path + ".new", path)
    }

    /// Kills the server's first process, waits until the others have ended, and starts the server again.
    package func killAndStartAgain() async throws {
        try await kill()
        _ = try await start()
    }

    /// Kills the server's first process; the others end soon.
    package func kill() async throws {
        try await script(
            """
            home=$(postgres_home "$directory")
            kill -9 "$(head -n 1 "$home/data/postmaster.pid")"
            """
        )
    }

    /// Starts the server, unless it is running.
    @discardableResult
    package func start() async throws -> String {
        // After a kill the server cannot start before its last process has ended.
        try await script(
            """
            export POSTGRES_CLOCK='\(library ?? "")'
            for attempt in 1 2 3 4 5 6 7 8 9 10; do
                if POSTGRES_FAST=1 POSTGRES_OPTIONS='\(options)' postgres_start "$directory" 2>"$directory/start.errors"; then break; fi
                if ((attempt == 10)); then cat "$directory/start.errors" >&2; exit 1; fi
                sleep 0.5
            done
            printf '%s\\n' "$DATABASE_URL"
            """
        )
    }

    /// What the server has logged since it was made.
    package func log() async throws -> String {
        try await Self.output(of: "cat \"$(postgres_home \"$directory\")/server.log\"", directory)
    }

    /// - Returns: The last line of the output.
    @discardableResult
    private func script(_ text: String) async throws -> String {
        try await Self.output(of: text, directory).split(separator: "\n").last.map(String.init) ?? ""
    }

    private static func output(of text: String, _ directory: String = "") async throws -> String {
        let script = "set -euo pipefail; . \(Executables.checkout)/scripts/lib/postgres.sh; directory=$1; \(text)"
        // Without it, a server of `scripts/test --postgres 18` would be of another version than the shared one.
        let programs = ProcessInfo.processInfo.environment["POSTGRES_BINDIR"].map { ["POSTGRES_BINDIR": $0] } ?? [:]
        let environment = programs.merging(["PATH": "/usr/local/bin:/usr/bin:/bin"]) { $1 }
        return try await withChildProcess("/bin/bash", ["-c", script, "bash", directory], environment: environment) {
            let code = await $0.wait()
            guard code == 0 else { throw Failed(text: $0.errors) }
            return $0.output
        }
    }

    package struct Failed: Error {
        let text: String
    }
}
