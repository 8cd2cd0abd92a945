import HTTPTransport
package import JobPlan
package import Ledger
import Postgres

/// Where a command finds its ledger, and how it connects.
package struct LedgerAddress: Sendable {
    private let database: PostgresOutput
    /// The sessions' `application_name`, unless the connection string sets it; at most 63 bytes are kept.
    package var applicationName = "storeledger"
    /// How long to wait until PostgreSQL is available, at the start and after a lost connection, before ending with 69.
    package var deadline = Duration.seconds(60)
    /// Called with PostgreSQL's message, and again after each further attempt, while no session can be opened.
    package var waiting: @Sendable (String) -> Void = { _ in }

    package init(database: PostgresOutput) { self.database = database }

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
