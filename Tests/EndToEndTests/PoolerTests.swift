import FoundationEssentials
import Glibc
import Postgres
import TestSupport
import Testing

/// A pooler between storeledger and PostgreSQL.
@Suite(
    .temporaryDatabase,
    .enabled(if: Pooler.program != nil, "PgBouncer is not installed; apt-get install pgbouncer")
)
struct PoolerTests {
    @Test(arguments: ["transaction", "statement"])
    func `D17 behind a pooler that shares sessions, each command ends with 78 and the remedy, and changes nothing`(
        mode: String
    ) async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            let commands = try commands(on: stage)
            try await Pooler.running("pool_mode = \(mode)", beside: stage) { pooler in
                let settings = try await pooler.settings()
                for command in commands {
                    let arguments = command.split(separator: " ").map(String.init)
                    try await stage.withStoreledger(arguments, environment: ["DATABASE_URL": pooler.url]) { process in
                        let code = await process.wait()
                        let text = process.output + process.errors
                        #expect(code == 78, "\(command): \(text)")
                        #expect(text.contains("pooler shares sessions"), "\(command): \(text)")
                        #expect(text.contains("pool_mode = session"), "\(command): \(text)")
                    }
                }
                #expect(try await pooler.settings() == settings)
            }
            #expect(try await stage.book(schema: "public").count(Self.relations) == 0)
        }
    }

    /// Relations and schemas that a new database does not have.
    private static let relations = """
        SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace)
            + (SELECT count(*) FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname NOT IN ('public', 'information_schema'))
        """

    /// Each command that needs the ledger; `plan` only reads it if it can.
    private func commands(on stage: Stage) throws -> [String] {
        var crawl = stage.job
        crawl.csv = "{directory: out, tables: [transactions]}"
        let job = try stage.write(crawl)
        try stage.write("original_transaction_id\n1\n", to: "affected.csv")
        let action = try stage.write(
            """
            version: 1
            name: extend-after-outage
            \(stage.job.store)
            action: {extendRenewalDate: {extendByDays: 7, extendReasonCode: 3}}
            input: {csv: {path: affected.csv}}
            output: {postgres: {url: "${DATABASE_URL}"}, results: {directory: out}}

            """,
            to: "action.yaml"
        )
        let receiver = try stage.write(
            """
            version: 1
            name: receiver
            \(stage.job.store)
            receiver: {listen: "127.0.0.1:0"}
            output: {postgres: {url: "${DATABASE_URL}"}}

            """,
            to: "receiver.yaml"
        )
        return [
            "migrate \(job)", "run \(job) --progress none", "retry \(job)", "doctor \(job)",
            "status \(job)", "coverage \(job)", "failures \(job)", "rejects \(job) list", "replay \(job)",
            "reconcile \(receiver)", "refresh \(job)", "report \(job) --output -", "export \(job)",
            "erase \(job) --yes --transaction-id 430000000000001", "dictionary \(job)", "jobs list",
            "receive \(receiver)",
            "doctor \(receiver)", "doctor \(action)", "actions plan \(action)", "actions run \(action)",
            "actions status \(action)",
        ]
    }

    @Test(arguments: [
        "default_pool_size = 1", "default_pool_size = 20", "default_pool_size = 20\nserver_round_robin = 1",
    ])
    func `D17 a shared session is refused at each attempt, with other clients and without`(settings: String)
        async throws
    {
        try await Stage.with(.init(customers: 1)) { stage in
            try await Pooler.running("pool_mode = transaction\n\(settings)", beside: stage) { pooler in
                func refuses(_ times: Int) {
                    for _ in 0..<times {
                        let error = #expect(throws: PostgresError.self) {
                            _ = try PostgresConnection(conninfo: pooler.url)
                        }
                        #expect(error?.reason == .sharedSession, "\(error?.message ?? "")")
                    }
                }
                refuses(20)
                let script = try stage.write("SELECT pg_sleep(0.001)\n\\watch 0.001\n", to: "busy.sql")
                try await pooler.psql(["-f", script]) { _ in
                    try await pooler.psql(["-f", script]) { _ in refuses(50) }
                }
            }
        }
    }

    @Test func `D17 behind a pooler in session mode all works, and no setting stays for the next client`() async throws
    {
        try await Stage.with(.init(customers: 5)) { stage in
            let path = try stage.write(stage.job)
            // The pooler itself takes nothing back.
            try await Pooler.running("pool_mode = session\nserver_reset_query =", beside: stage) { pooler in
                let settings = try await pooler.settings()
                let variables = ["DATABASE_URL": pooler.url]
                for arguments in [["migrate", path], ["run", path, "--progress", "none"], ["status", path]] {
                    try await stage.withStoreledger(arguments, environment: variables) { process in
                        #expect(await process.wait() == 0, "\(arguments): \(process.errors)")
                    }
                }
                // The sessions that the commands used wait in the pool.
                #expect(try await pooler.settings() == settings)
            }
            #expect(try await stage.book().count("SELECT count(*) FROM transactions") > 0)
            #expect(try await stage.book(schema: "public").count(Self.relations) == 1, "the ledger's schema")
        }
    }

    @Test func `D17 in session mode a session is accepted although the pool has no other for the check`() async throws {
        try await Stage.with(.init(customers: 1)) { stage in
            try await Pooler.running("pool_mode = session\ndefault_pool_size = 1", beside: stage) { pooler in
                let connection = try PostgresConnection(conninfo: pooler.url)
                #expect(try connection.run("SELECT 1 AS one")[0].int32("one") == 1)
            }
        }
    }

    @Test func `D26 a pooler that asks for a password works with libpq 16, and is named as the reason without it`()
        async throws
    {
        let port = Int.random(in: 20_000...29_999)
        let settings = """
            pool_mode = session
            listen_addr = 127.0.0.1
            auth_type = scram-sha-256
            auth_file = {directory}/users
            client_tls_sslmode = require
            client_tls_key_file = {directory}/key.pem
            client_tls_cert_file = {directory}/certificate.pem
            """
        try await Stage.with(.init(customers: 1)) { stage in
            try await Pooler.running(
                settings,
                port: port,
                beside: stage,
                prepare: { directory in
                    let users = "\"storeledger\" \"planted-pass-word\"\n"
                    try Data(users.utf8).write(to: URL(filePath: directory + "/users"))
                    let options = [
                        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                        "-nodes",
                        "-subj", "/CN=db.test", "-addext", "subjectAltName=DNS:db.test", "-days", "2",
                        "-keyout", directory + "/key.pem", "-out", directory + "/certificate.pem",
                    ]
                    try await withChildProcess("/usr/bin/env", options, environment: [:]) { openssl in
                        #expect(await openssl.wait() == 0, "\(openssl.errors)")
                    }
                    unsafe chmod(directory + "/key.pem", 0o644)
                }
            ) { pooler in
                let database = try #require(stage.databaseURL().firstMatch(of: /\/\/\/([^?]+)/)).1
                let conninfo =
                    "host=db.test hostaddr=127.0.0.1 port=\(port) dbname=\(database) user=storeledger "
                    + "password=planted-pass-word sslmode=verify-full sslrootcert=\(pooler.directory)/certificate.pem"
                do {
                    let connection = try PostgresConnection(conninfo: conninfo)
                    #expect(try connection.run("SELECT 1 AS one")[0].int32("one") == 1)
                } catch let error as PostgresError {
                    #expect(error.reason == .untrustedServer, "\(error)")
                    for words in ["a pooler such as PgBouncer", "libpq 16 or later", "offer an authentication method"] {
                        #expect(error.message.contains(words), "\(error)")
                    }
                    #expect(!error.description.contains("planted-pass-word"))
                }
            }
        }
    }
}

/// A PgBouncer during a test.
private struct Pooler {
    static let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// The connection string of the stage's database through the pooler's Unix socket.
    let url: String
    /// The folder of its files.
    let directory: String

    /// - Parameters:
    ///   - settings: Lines of its configuration; `{directory}` stands for the folder.
    ///   - port: The number in the name of its Unix socket.
    ///   - prepare: Writes files into the folder.
    static func running(
        _ settings: String,
        port: Int = 6543,
        beside stage: Stage,
        prepare: (_ directory: String) async throws -> Void = { _ in },
        _ body: (Pooler) async throws -> Void
    ) async throws {
        let url = stage.databaseURL()
        let server = try #require(url.firstMatch(of: /host=([^&]+)/)).1.replacing("%2F", with: "/")
        // The pooler's user, who is not root, has to reach it.
        let directory = "/tmp/pooler-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        unsafe chmod(directory, 0o777)
        try await prepare(directory)
        let text = """
            [databases]
            * = host=\(server) port=5432 user=storeledger
            [pgbouncer]
            listen_port = \(port)
            unix_socket_dir = \(directory)
            auth_type = any
            \(settings.replacing("{directory}", with: directory))
            """
        try Data(text.utf8).write(to: URL(filePath: directory + "/pgbouncer.ini"))
        let program = [Self.program ?? "", directory + "/pgbouncer.ini"]
        // In place of itself: a child of another program would outlive the test.
        let user = ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
        let command = getuid() == 0 ? user + program : program
        try await withChildProcess(command[0], Array(command.dropFirst()), environment: [:]) { pooler in
            #expect(await pooler.errorLine(with: "process up") != nil, "\(pooler.errors)")
            try await body(Pooler(url: url + "&host=\(directory)&port=\(port)", directory: directory))
            pooler.signal(SIGTERM)
        }
    }

    /// Settings of a session that another client gets.
    func settings() async throws -> String {
        let sql = """
            SELECT concat_ws('|', current_setting('search_path'), current_setting('enable_seqscan'), current_setting('enable_hashjoin'),
                             current_setting('jit'), current_setting('lock_timeout'), current_setting('idle_session_timeout'))
            """
        return try await psql(["-At", "-c", sql]) { process in
            #expect(await process.wait() == 0, "\(process.errors)")
            return String(process.output.prefix { $0 != "\n" })
        }
    }

    /// Another client of the pooler, which runs during `body`.
    func psql<Result>(_ arguments: [String], _ body: (ChildProcess) async throws -> Result) async throws -> Result {
        try await withChildProcess("/usr/bin/env", ["psql", url] + arguments, environment: [:], body)
    }
}
