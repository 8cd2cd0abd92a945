import FoundationEssentials
import Glibc
import TestSupport
import Testing

private let pgbouncer = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

/// A pooler between storeledger and PostgreSQL.
@Suite(
    .migratedDatabase,
    .timeLimit(.minutes(15)),
    .enabled(if: pgbouncer != nil, "PgBouncer is not installed; apt-get install pgbouncer")
)
struct PoolerTests {
    @Test(arguments: [("session", 0), ("transaction", 78)] as [(String, Int32)])
    func `D17 PgBouncer in session mode works, in transaction mode the run ends with the reason`(
        mode: String,
        code: Int32
    ) async throws {
        try await Stage.with(.init(customers: 5)) { stage in
            let path = try await stage.migrated(stage.job)
            let url = stage.databaseURL()
            let server = try #require(url.firstMatch(of: /host=([^&]+)/)).1.replacing("%2F", with: "/")
            // The pooler's user, who is not root, has to reach it.
            let directory = "/tmp/pooler-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            defer { try? FileManager.default.removeItem(atPath: directory) }
            unsafe chmod(directory, 0o777)
            let settings = """
                [databases]
                * = host=\(server) port=5432 user=storeledger
                [pgbouncer]
                listen_port = 6543
                unix_socket_dir = \(directory)
                auth_type = any
                pool_mode = \(mode)
                """
            try Data(settings.utf8).write(to: URL(filePath: directory + "/pgbouncer.ini"))
            let program = [pgbouncer ?? "", directory + "/pgbouncer.ini"]
            // In place of itself: a child of another program would outlive the test.
            let user = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
            let command = getuid() == 0 ? user + program : program
            try await withChildProcess(command[0], Array(command.dropFirst()), environment: [:]) { pooler in
                #expect(await pooler.errorLine(with: "process up") != nil, "\(pooler.errors)")
                let variables = ["DATABASE_URL": url + "&host=\(directory)&port=6543"]
                let outcome = try await stage.storeledger("run", path, "--progress", "none", environment: variables)
                #expect(outcome.code == code, "\(outcome.errors)")
                #expect(outcome.errors.contains("pool_mode = session") == (code == 78), "\(outcome.errors)")
                pooler.signal(SIGTERM)
            }
        }
    }
}
