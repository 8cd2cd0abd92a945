import FoundationEssentials
import Hashing
import Postgres
import TestSupport
import Testing

@testable import Ledger

/// How tombstones are made, and how IDs are found in texts.
@Suite(.migratedDatabase)
struct TombstoneTests {
    @Test func `a tombstone is HMAC-SHA256, in Swift as in SQL`() async throws {
        // RFC 4231, test case 2.
        let known = ErasureKey(Array("Jefe".utf8)).mark(of: Array("what do ya want for nothing?".utf8))
        let hexadecimal = known.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        #expect(hexadecimal == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let world = try await TestLedger()
        let key = ErasureKey(ErasureKey.random())
        let sql = ErasureKey.sqlMark(of: "$1::text", .transaction, inner: "$2", outer: "$3")
        let mark = try await world.ledger.transaction { connection in
            try connection.run("SELECT \(sql) AS mark", [.text("42"), .bytea(key.inner), .bytea(key.outer)])[0].bytes(
                "mark"
            )
        }
        #expect(mark == key.mark(of: .transaction("42")))
    }

    @Test(arguments: [0, 1, 2, 3])
    func `an ID is found however deep a text hides it, and where it is cut off`(depth: Int) {
        let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        for space in 0..<3 {
            var text =
                String(repeating: " ", count: space)
                + #"{"a":"200000000012345","b":"\#(token.uppercased())","c":123456}"#
            for _ in 0..<depth {
                text = "eyJh." + Data(text.utf8).base64EncodedString().replacing("=", with: "") + ".c2ln"
            }
            let ids = IDScanner.ids(in: Array(text.utf8))
            #expect(ids.isSuperset(of: [.transaction("200000000012345"), .appTransaction("123456")]))
            #expect(CustomerID.account(token).map(ids.contains) == true)
        }
        let cut = Data(#"{"transactionId":200000000012345"#.utf8).base64EncodedString().replacing("=", with: "")
        #expect(IDScanner.ids(in: Array("a.\(cut)".utf8)).contains(.transaction("200000000012345")))
    }
}
