import Postgres
import TestSupport
import Testing

@Suite(.temporaryDatabase)
struct SmokeTests {
    @Test func `one is one`() async throws {
        let one = try await TemporaryDatabase.pool().withConnection { try $0.run("SELECT 1 AS one")[0].int64("one") }
        #expect(one == 1)
    }
}
