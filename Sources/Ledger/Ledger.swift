package import Postgres

/// All durable state: rows, cursors, leases and the spent budget, in one schema of one database.
package struct Ledger: Sendable {
    /// Sessions for pages, plans and reports.
    package let pages: RetryingPool
    /// Sessions for leases and budget, so that they do not wait for pages.
    package let control: RetryingPool
    /// A name of `a-z0-9_`, which the job file checks.
    package let schema: String
    /// How long to wait for a server that does not answer.
    package let deadline: Duration
    private let conninfo: ConnectionString
    private let settings: SessionSettings
    package let headers = SigningHeaders()
    let settledTables = SettledTables()
    package let watch: LedgerWatch

    /// Creates a ledger.
    ///
    /// The first use connects.
    ///
    /// - Parameters:
    ///   - conninfo: A libpq connection string or URL.
    ///   - schema: The schema of the tables; it need not exist yet.
    ///   - sessions: The most connections for pages, at least 1.
    ///   - controlSessions: The most connections for leases and budget, at least 1.
    ///   - deadline: How long to wait for a server that does not answer.
    ///   - waiting: Called while the server cannot be reached; see
    ///     ``Postgres/PostgresSession/init(conninfo:settings:waiting:watch:)``.
    ///   - blocked: Called with a clause while a session waits for a lock; see ``Postgres/LockWaitWatch``.
    ///   - lockTimeout: How long a session waits for a lock, unless its statement says otherwise.
    package init(
        conninfo: ConnectionString,
        schema: String,
        sessions: Int,
        controlSessions: Int = 2,
        deadline: Duration = .seconds(60),
        waiting: @escaping @Sendable (PostgresError) -> Void = { _ in },
        blocked: @escaping @Sendable (String) -> Void = { _ in },
        lockTimeout: Duration? = nil
    ) {
        self.schema = schema
        self.deadline = deadline
        self.conninfo = conninfo
        let watch = LedgerWatch(schema: schema, headers: headers)
        self.watch = watch
        var settings = Self.sessionSettings(schema: schema)
        if let lockTimeout {
            settings = settings.adding([.init("lock_timeout", "\(lockTimeout.lockTimeoutMilliseconds)")])
        }
        self.settings = settings
        let lockWaits = LockWaitWatch(conninfo: conninfo, settings: settings, report: blocked)
        pages = RetryingPool(
            conninfo: conninfo,
            size: sessions,
            schema: schema,
            deadline: deadline,
            watch: watch,
            waiting: waiting,
            lockWaits: lockWaits,
            settings: settings.adding([Self.customPlans])
        )
        control = RetryingPool(
            conninfo: conninfo,
            size: controlSessions,
            schema: schema,
            deadline: deadline,
            watch: watch,
            waiting: waiting,
            lockWaits: lockWaits,
            settings: settings
        )
    }

    /// Connects, and waits for a server that is starting or restarting.
    ///
    /// - Parameter limit: Replaces the ledger's deadline.
    /// - Throws: ``Postgres/PostgresError``; `isUnreachable` after the deadline.
    package func connect(within limit: Duration? = nil) async throws {
        try await pages.pool.connect(within: limit ?? deadline)
    }

    /// Connects a session for leases, so that pages cannot take the last one for which the server has room.
    ///
    /// - Throws: As ``connect(within:)``.
    package func connectControl() async throws { try await control.pool.connect(within: deadline) }

    /// Whether both use the same sessions.
    package func isSame(as other: Ledger) -> Bool { watch === other.watch }

    /// Resets the planner settings of ``sessionSettings(schema:)`` for one transaction that reads whole tables.
    package static let defaultPlanner =
        "SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on"

    /// Makes PostgreSQL plan every statement each time; ``SettledTables`` decides when pages can reuse plans.
    private static let customPlans = SessionSettings.Setting("plan_cache_mode", "force_custom_plan")

    /// The settings of every session.
    ///
    /// - Planner: by default it hashes a whole table for every page (4,500 instead of 61,000 rows a second in batches
    ///   of 100), and a statement that was prepared for a small table keeps reading it sequentially.
    /// - Timeouts: a role or database can set timeouts, as managed servers do, that are too short for runs of hours. So
    ///   the session sets its own. Statements have no timeout; locks, connecting and ``Pipeline`` have theirs.
    /// - Durability: a crash that loses spent budget would let it be spent twice. So commits are durable, regardless of
    ///   the role's settings.
    private static func sessionSettings(schema: String) -> SessionSettings {
        .standard.adding([
            .init("statement_timeout", "0"), .init("idle_session_timeout", "0"),
            .init("idle_in_transaction_session_timeout", "'60s'"), .init("lock_timeout", "'\(defaultLockTimeout)'"),
            .init("transaction_timeout", "0", since: 170_000), .init("search_path", "\"\(schema)\", pg_temp"),
            .init("enable_seqscan", "off"), .init("enable_hashjoin", "off"), .init("enable_mergejoin", "off"),
            .init("jit", "off"), .init("client_min_messages", "warning"),
            .init("synchronous_commit", "on", insteadOf: "off"),
        ])
    }

    /// Opens a separate session outside the pools; blocks until the server answers.
    package func connectApart() throws -> PostgresConnection {
        try PostgresConnection(conninfo, settings: settings)
    }

    /// A pool of sessions in addition to the ledger's, for statements that must not wait for a server that is away.
    ///
    /// - Parameters:
    ///   - sessions: The most sessions, at least 1.
    ///   - patience: How long to try to connect.
    /// - Returns: The pool; no session is open yet.
    package func separatePool(sessions: Int, patience: Duration) -> PostgresPool {
        PostgresPool(conninfo: conninfo, size: sessions, patience: patience, settings: settings, watch: watch)
    }

    /// Runs `body` in one transaction on a session for pages; see ``Postgres/RetryingPool/transaction(_:_:)``.
    package func transaction<R: Sendable>(
        _ isolation: IsolationLevel = .readCommitted,
        _ body: @escaping @Sendable (borrowing PostgresConnection) throws -> R
    ) async throws -> R {
        try await pages.transaction(isolation, body)
    }

    /// Checks that names without a schema mean the ledger's, so that no statement creates anything elsewhere.
    ///
    /// - Throws: ``LedgerError/schemaMissing(schema:)``, ``Postgres/PostgresError``.
    package func requireSchema(on connection: borrowing PostgresConnection) throws {
        let current = try connection.run("SELECT current_schema()::text AS name")[0].textOrNil("name")
        guard current == schema else { throw LedgerError.schemaMissing(schema: schema) }
    }
}
