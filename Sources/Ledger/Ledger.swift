import LedgerTables
package import Postgres

/// The one truth: rows, cursors, leases and the spent budget, in one schema of one database.
package struct Ledger: Sendable {
    package let pool: PostgresPool
    /// For leases and budget: what keeps a run alive never queues behind pages.
    private let control: PostgresPool
    /// A name made of `a-z0-9_`; the job file checks it.
    package let schema: String
    /// How long to wait for a server that does not answer.
    package let deadline: Duration
    private let conninfo: ConnectionString
    let headers = SigningHeaders()
    let settledTables = SettledTables()

    /// A ledger over at most `sessions` connections; the first use connects.
    ///
    /// - Parameters:
    ///   - conninfo: A libpq connection string or URL.
    ///   - schema: Where the tables are; it need not exist yet.
    ///   - sessions: For pages, at least 1; two more are for leases and budget.
    ///   - deadline: How long to wait for a server that does not answer, at first and after it went away.
    ///   - isForReading: Whether no page is ever written: then a role will do that may make no temporary tables.
    package init(
        conninfo: ConnectionString,
        schema: String,
        sessions: Int,
        deadline: Duration = .seconds(60),
        isForReading: Bool = false
    ) {
        self.schema = schema
        self.deadline = deadline
        self.conninfo = conninfo
        pool = PostgresPool(conninfo: conninfo, size: sessions, patience: deadline) { connection in
            try connection.script(Self.sessionSettings(schema: schema) + Self.planAnew)
            if !isForReading { try connection.script(Staging.createIDs) }
        }
        control = PostgresPool(conninfo: conninfo, size: 2, patience: deadline) { connection in
            try connection.script(Self.sessionSettings(schema: schema))
        }
    }

    /// Connects, waiting for a server that is starting or restarting.
    ///
    /// - Parameter limit: In place of the ledger's own deadline.
    /// - Throws: ``Postgres/PostgresError``; `isUnreachable` once the deadline has passed.
    package func connect(within limit: Duration? = nil) async throws {
        try await pool.connect(within: limit ?? deadline)
    }

    /// Undoes, for one transaction, what ``sessionSettings(schema:)`` forbids the planner: for statements over whole tables.
    package static let usualPlanner =
        "SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on; SET LOCAL enable_mergejoin = on"

    /// Has every statement planned each time; ``SettledTables`` says when pages need not.
    private static let planAnew = "SET plan_cache_mode = force_custom_plan;"

    /// Left to itself the planner hashes a whole table for every page (61,000 against 4,500 rows a second in batches of
    /// 100), and a statement prepared while its table was one page long goes on to read it from end to end.
    ///
    /// The role or the database may set limits of time, as managed servers do; they were not set for work of hours, so the
    /// session sets its own. A statement has none: locks, connecting and ``ExportPipeline`` have theirs. A parameter never
    /// reaches these statements. A budget that a crash of the server forgets would be spent twice, so
    /// commits are durable whatever the role says.
    private static func sessionSettings(schema: String) -> String {
        """
        SET statement_timeout = 0; SET idle_session_timeout = 0; SET idle_in_transaction_session_timeout = '60s';
        SET lock_timeout = '\(usualLockTimeout)';
        SELECT set_config('transaction_timeout', '0', false) WHERE current_setting('transaction_timeout', true) IS NOT NULL;
        SET search_path TO "\(schema)", pg_temp;
        SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off;
        SET client_min_messages = warning;
        SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
        """
    }

    /// Opens a session of its own, which no pool lends; blocks until the server answers.
    func connectApart() throws -> PostgresConnection {
        let connection = try PostgresConnection(conninfo)
        try connection.script(Self.sessionSettings(schema: schema))
        return connection
    }

    func sessions(of lane: Lane) -> PostgresPool {
        switch lane {
        case .pages: pool
        case .control: control
        }
    }
}

/// Which of a ledger's connections a transaction runs on.
enum Lane {
    case pages
    case control
}
