import HTTPTransport
package import JobFiles
package import Ledger
import Migrations
import Postgres

/// Where a command finds its ledger, and how it connects.
package struct LedgerAddress: Sendable {
    private let database: PostgresOutput
    /// The sessions' `application_name`, unless the connection string sets it; at most 63 bytes are kept.
    package var applicationName = "storeledger"
    /// How long to wait until PostgreSQL is available, at the start and after a lost connection, before ending with 69.
    package var deadline = Duration.seconds(60)
    /// Called again and again while no session can be opened, or a session waits for a lock.
    package var waiting: @Sendable (DatabaseWait) -> Void = { _ in }
    /// How long a session waits for a lock, unless its statement says otherwise; `nil` for the ledger's default.
    package var lockTimeout: Duration?

    package init(database: PostgresOutput) { self.database = database }

    /// The ledger of runs, which share its sessions; not yet connected.
    ///
    /// - Parameter jobs: At least one; the smallest `output.postgres.connections` counts.
    package func ledger(of jobs: [JobFile]) -> Ledger {
        // A page takes milliseconds to commit, so a few sessions serve many workers.
        let wanted = jobs.reduce(0) { $0 + min(8, max(2, $1.limits.concurrency / 4)) }
        // One is for finding out who holds a lock.
        let most = (jobs.map(\.postgres.connections).min() ?? PostgresOutput.defaultConnections) - 1
        let control = max(1, min(2 * jobs.count, most / 4))
        return ledger(sessions: max(1, min(wanted, most - control)), controlSessions: control)
    }

    /// The ledger, not yet connected.
    ///
    /// - Parameters:
    ///   - sessions: The most connections for pages, at least 1.
    ///   - controlSessions: The most connections for leases and budget, at least 1.
    package func ledger(sessions: Int = 1, controlSessions: Int = 2) -> Ledger {
        let url = database.url.reveal()
        return Ledger(
            conninfo: ConnectionString(url, systemRoots: CertificateBundle.system, applicationName: applicationName),
            schema: database.schema,
            sessions: sessions,
            controlSessions: controlSessions,
            deadline: deadline,
            waiting: { [waiting] in waiting(.session($0.message)) },
            blocked: { [waiting] in waiting(.lock($0)) },
            lockTimeout: lockTimeout
        )
    }
}

/// What a command waits for at PostgreSQL.
package enum DatabaseWait: Sendable {
    /// A session; with PostgreSQL's message.
    case session(String)
    /// A lock; with a clause that says who holds it.
    case lock(String)
}

extension Ledger {
    /// Connects, and checks that this version supports the schema.
    package func open() async throws {
        try await connect()
        try await Migrator(ledger: self, directory: try SQLDirectory.find()).check()
    }

    /// Connects, and checks that the server is a primary whose schema this version supports.
    package func openToWrite() async throws {
        try await connect()
        try await requirePrimary()
        try await open()
    }
}
