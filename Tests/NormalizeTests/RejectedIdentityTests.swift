import AppStoreModel
import Hashing
import LedgerSchema
import Testing

/// By what a rejected record is known again: Apple signs each answer when it is requested.
struct RejectedIdentityTests {
    @Test func `a rejected record that is signed again has other bytes and the same identity`() throws {
        let world = try RecordWorld()
        let other: KeyValuePairs<String, String?> = ["bundleId": #""com.example.other""#]
        let first = try #require(try world.normalize(transactions: world.transaction(other)).rejected.first)
        let later = try #require(
            try world.normalize(
                transactions: world.transaction(["bundleId": #""com.example.other""#, "signedDate": "1779999999001"])
            ).rejected.first
        )
        #expect(first.sha256 != later.sha256)
        #expect(first.identity == later.identity && first.identity != first.sha256)
    }

    @Test func `two records, and two kinds of one key, have different identities`() throws {
        let world = try RecordWorld()
        let wrong = #""com.example.other""#
        let identities = try [
            world.normalize(transactions: world.transaction(["bundleId": wrong])),
            world.normalize(transactions: world.transaction(["bundleId": wrong, "transactionId": #""2""#])),
            world.normalize(
                notifications: world.notification([
                    "notificationUUID": #""2000000000000001""#, "data": world.data(["bundleId": wrong]),
                ])
            ),
        ].map { try #require($0.rejected.first).identity }
        #expect(Set(identities).count == 3)
    }

    @Test(arguments: ["not a JWS", "a.b.c", "..", ".e30.", ""])
    func `a text that names no record is known by its bytes`(_ text: String) throws {
        let rejected = try #require(try RecordWorld().normalize(.transaction(jws: text)).rejected.first)
        #expect(rejected.identity == rejected.sha256)
    }

    @Test(arguments: [
        #"{"transactionId":"7","transactionId":"8"}"#, #"{"transactionId" : "7""#, #"["transactionId":"7"]"#,
    ])
    func `a payload that is no JSON still says which record it claims to be`(_ payload: String) throws {
        let world = try RecordWorld()
        let expected = SHA256.digest(of: Array("transaction\n7".utf8))
        let rejected = try #require(try world.normalize(transactions: payload).rejected.first)
        #expect(rejected.identity == expected)
    }

    @Test(arguments: [#""""#, "7", "null", "\"" + String(repeating: "7", count: 65) + "\""])
    func `a key that is none names no record`(_ key: String) throws {
        let world = try RecordWorld()
        let rejected = try #require(
            try world.normalize(transactions: #"{"bundleId":"com.example.other","transactionId":\#(key)}"#).rejected
                .first
        )
        #expect(rejected.identity == rejected.sha256)
    }
}
