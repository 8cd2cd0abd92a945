import Postgres
import TestSupport
import Testing

@testable import Inbox
@testable import Ledger
@testable import Migrations
@testable import Planning
@testable import Status

/// The statements in `SQL` of `Ledger`, `Migrations`, `Status`, `Inbox` and `Planning`.
@Suite(.temporaryDatabase)
struct SQLStatementTests {
    private static let all =
        SQLStatement.ofLedger + SQLStatement.ofMigrations + SQLStatement.ofStatus + SQLStatement.ofInbox
        + SQLStatement.ofPlanning

    @Test(arguments: all.map(\.0))
    func `PostgreSQL accepts each statement over an empty ledger`(name: String) async throws {
        let world = try await TestLedger()
        let statement = try #require(Self.all.first { $0.0 == name }?.1)
        #expect(!statement.text.isEmpty)
        try await world.run("PREPARE s AS \(statement.text)")
    }
}
