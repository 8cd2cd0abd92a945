import AppStoreModel
import SignedData
import Streams
import StrictJSON
import Testing

@testable import AppStoreSimulator

struct RequestRuleTests {
    @Test func `parameters that are not valid get the documented code`() async throws {
        let cases: [([(String, String)], Int64)] = [
            ([("startDate", "soon")], 4_000_015), ([("startDate", "-1")], 4_000_015),
            ([("startDate", "01")], 4_000_015),
            ([("endDate", "1.5")], 4_000_016), ([("startDate", "2"), ("endDate", "1")], 4_000_013),
            ([("startDate", "2"), ("endDate", "2")], 4_000_013), ([("sort", "ascending")], 4_000_021),
            ([("productType", "CONSUMABLE"), ("productType", "BOOK")], 4_000_022), ([("productId", "")], 4_000_023),
            ([("subscriptionGroupIdentifier", "")], 4_000_024), ([("excludeRevoked", "1")], 4_000_025),
            ([("inAppOwnershipType", "MINE")], 4_000_026), ([("revoked", "yes")], 4_000_030),
            ([("revision", "nonsense")], 4_000_005), ([("revision", "")], 4_000_005),
        ]
        try await TestStore.run(customers: 1) { store in
            let path = TestStore.history(try #require(try store.ids.first))
            for (query, code) in cases {
                let answer = try await store.get(path, query)
                #expect(answer.errorCode == code, "\(query)")
                #expect(answer.status == 400 && answer.contentType == "application/json", "\(query)")
            }
        }
    }

    @Test(
        arguments: [
            ("abc", 400, 4_000_006), ("123456789012345678901", 400, 4_000_006), ("", 400, 4_000_006),
            ("12%2F3", 400, 4_000_006), ("1", 404, 4_040_010), ("0430000000000000", 404, 4_040_010),
        ] as [(String, Int, Int64)]
    )
    func `an ID that is malformed or has no customer is refused`(id: String, status: Int, code: Int64) async throws {
        try await TestStore.run(customers: 2) { store in
            for path in [
                TestStore.history(id), TestStore.refunds(id), TestStore.statuses(id), TestStore.appTransaction(id),
                TestStore.historyV1(id),
            ] {
                let answer = try await store.get(path)
                #expect(answer.status == status && answer.errorCode == code, "\(path)")
            }
        }
    }

    @Test func `an app transaction ID identifies its customer, except for Get Transaction Info`() async throws {
        try await TestStore.run(customers: 3) { store in
            func found(_ path: String) async throws -> [JSONObject] {
                let json = try await store.get(path).json
                let signed = (json["signedTransactions"]?.array ?? []).compactMap(\.string)
                return try (signed + [json["signedAppTransactionInfo"]?.string].compactMap(\.self)).map(store.payload)
            }
            for (transactionId, payload) in try await store.world("transaction") {
                let id = try #require(payload.object?["appTransactionId"]?.string)
                for path in [
                    TestStore.history, TestStore.refunds, TestStore.historyV1, TestStore.appTransaction,
                ] {
                    #expect(try await found(path(id)) == found(path(transactionId)))
                }
                #expect(
                    try await store.get(TestStore.statuses(id)).json["data"]?.array?.count
                        == store.get(TestStore.statuses(transactionId)).json["data"]?.array?.count
                )
                let info = try await store.get("/inApps/v1/transactions/" + id)
                #expect(info.status == 400 && info.errorCode == 4_000_048)
            }
            for other in ["704000000000999999", "704999999999999999", "7040000000000000000"] {
                #expect(try await store.get(TestStore.statuses(other)).errorCode == 4_040_010)
                #expect(try await store.get("/inApps/v1/transactions/" + other).errorCode == 4_040_010)
            }
        }
    }

    @Test func `a flag is true or false in any case, as Apple's Python library sends it`() async throws {
        try await TestStore.run(customers: 1, transactionsPerCustomer: 40) { store in
            let path = TestStore.history(try #require(try store.ids.first))
            for (text, other) in [("True", "true"), ("False", "false")] {
                let pages = try await store.pages(path, [("revoked", text)], decode: TransactionHistory.page)
                let same = try await store.pages(path, [("revoked", other)], decode: TransactionHistory.page)
                #expect(try store.contents(pages) == store.contents(same) && !pages[0].records.isEmpty)
            }
        }
    }

    @Test func `a known ID without purchases has an empty history`() async throws {
        try await TestStore.run(customers: 3, transactionsPerCustomer: 0) { store in
            let page = try TransactionHistory.page(
                try await store.get(TestStore.history(try #require(try store.ids.first))).body
            )
            #expect(page.records.isEmpty && !page.hasMore && page.cursor != nil)
        }
    }

    @Test func `a revision belongs to its query, its customer and its endpoint`() async throws {
        try await TestStore.run(customers: 2) { store in
            let ids = try store.ids
            let path = TestStore.history(ids[0])
            let page = try TransactionHistory.page(try await store.get(path, [("revoked", "false")]).body)
            let revision = try #require(page.cursor)
            #expect(["+", "/", "="].allSatisfy(revision.contains))
            #expect(try await store.get(path, [("revoked", "false"), ("revision", revision)]).status == 200)
            let altered = String(revision.dropLast(6)) + "AAAA=="
            for (path, query) in [
                (path, [("revision", revision)]),
                (path, [("revoked", "true"), ("revision", revision)]),
                (path, [("revoked", "false"), ("revision", altered)]),
                (TestStore.history(ids[1]), [("revoked", "false"), ("revision", revision)]),
                (TestStore.refunds(ids[0]), [("revision", revision)]),
            ] {
                #expect(try await store.get(path, query).errorCode == 4_000_005)
            }
            // A client that does not percent-encode `+` sends a space.
            let careless = revision.replacing("+", with: " ")
            #expect(try await store.get(path, [("revoked", "false"), ("revision", careless)]).errorCode == 4_000_005)
        }
    }

    @Test func `only a valid bearer token is accepted, and 401 has no body`() async throws {
        try await TestStore.run(customers: 1) { store in
            let path = TestStore.history(try #require(try store.ids.first))
            let now = store.clock.now.rawValue / 1_000
            let key = try store.key
            let kid = store.app.keyId
            let good = [
                "iss": "\"\(store.app.issuerId)\"", "aud": "\"appstoreconnect-v1\"", "bid": "\"com.example.game\"",
                "iat": "\(now - 60)", "exp": "\(now + 600)",
            ]
            func token(
                _ changes: [String: String],
                without missing: String? = nil,
                kid: String = kid,
                key: SigningKey = key
            ) throws -> String {
                var claims = good
                for (name, value) in changes { claims[name] = value }
                if let missing { claims[missing] = nil }
                let payload = "{" + claims.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
                let header = "{\"alg\":\"ES256\",\"kid\":\"\(kid)\",\"typ\":\"JWT\"}"
                return try JWSIssuer(headerJSON: Array(header.utf8), key: key).sign(payload: Array(payload.utf8))
            }
            for accepted in [try token([:]), try token([:], without: "iat")] {
                #expect(try await store.get(path, token: accepted).status == 200)
            }
            let refused: [String?] = [
                nil, "", "nonsense",
                try token(["iss": "\"someone\""]), try token(["aud": "\"appstore\""]),
                try token(["bid": "\"com.other\""]),
                try token(["exp": "\(now)"]), try token(["exp": "\(now + 3_700)"]), try token([:], without: "exp"),
                try token(["exp": "\(now + 3_601)"], without: "iat"), try token(["iat": "\(now + 120)"]),
                try token([:], kid: "OTHERKEY01"), try token([:], key: SigningKey.generate()),
            ]
            for token in refused {
                let answer = try await store.get(path, token: .some(token))
                #expect(answer.status == 401 && answer.body.isEmpty, "\(token ?? "none")")
            }
        }
    }
}
