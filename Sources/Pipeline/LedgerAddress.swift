import HTTPTransport
package import JobPlan
package import Ledger
import Postgres

/// Where a command finds its ledger, and how it connects.
package struct LedgerAddress: Sendable {
    package let database: PostgresOutput
    private let applicationName: String
    private let deadline: Duration
    private let waiting: @Sendable (String) -> Void

    /// - Parameters:
    ///   - database: The database and the schema.
    ///   - applicationName: The sessions' `application_name`, unless the connection string sets it; at most 63 bytes
    ///     are kept.
    ///   - deadline: How long to wait until PostgreSQL is available, at the start and after a lost connection, before
    ///     ending with 69.
    ///   - waiting: Called with PostgreSQL's message, and again after each further attempt, while no session can be opened.
    package init(
        _ database: PostgresOutput,
        applicationName: String,
        deadline: Duration,
        waiting: @escaping @Sendable (String) -> Void
    ) {
        self.database = database
        self.applicationName = applicationName
        self.deadline = deadline
        self.waiting = waiting
    }

    /// The ledger, not yet connected.
    ///
    /// - Parameter sessions: The most connections for pages, at least 1.
    package func ledger(sessions: Int = 1) -> Ledger {
        let url = database.url.reveal()
        return Ledger(
            conninfo: ConnectionString(url, systemRoots: CertificateBundle.system, applicationName: applicationName),
            schema: database.schema,
            sessions: sessions,
            deadline: deadline,
            waiting: { [waiting] in waiting($0.message) }
        )
    }
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
