import AppStoreModel
import Basics
import Streams
import Testing

@testable import CommandLineTool

/// The reports of troubles that happen again and again.
struct RecurringTroubleTests {
    @Test
    func `the first trouble of a kind is reported at once, and the others at most once a minute with their number`() {
        var troubles = RecurringTroubles()
        let error = Trouble.failedRequest(.transactionHistory, "HTTP 500: internal")
        let sentence = "a request of transactionHistory failed and is repeated: HTTP 500: internal"
        #expect(troubles.note(error, at: .seconds(10))?.sentence == sentence)
        for second in 11...69 { #expect(troubles.note(error, at: .seconds(second)) == nil) }
        #expect(troubles.due(at: .seconds(69)) == [])
        #expect(troubles.due(at: .seconds(70)).map(\.sentence) == ["\(sentence) (59 in the last 60 s)"])
        #expect(troubles.due(at: .seconds(500)) == [])
        #expect(troubles.note(error, at: .seconds(600))?.sentence == sentence)
    }

    @Test func `kinds do not delay each other, and rejected records are counted, not pages`() {
        var troubles = RecurringTroubles()
        let rejects = Trouble.rejected(.refundHistory, records: 3, reason: "bad_signature")
        #expect(troubles.note(rejects, at: .zero)?.sentence == "3 records of refundHistory rejected: bad_signature")
        let wait = Trouble.databaseWait("connection refused")
        #expect(troubles.note(wait, at: .seconds(1))?.sentence == "waiting for PostgreSQL: connection refused")
        #expect(troubles.note(rejects, at: .seconds(2)) == nil)
        #expect(troubles.note(rejects, at: .seconds(30)) == nil)
        #expect(
            troubles.due(at: .seconds(60)).map(\.sentence)
                == ["3 records of refundHistory rejected: bad_signature (6 in the last 60 s)"]
        )
    }
}
