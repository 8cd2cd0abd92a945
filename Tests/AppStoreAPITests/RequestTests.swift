import AppStoreAPI
import AppStoreModel
import Testing

/// What Apple is asked, byte for byte.
@Suite(.timeLimit(.minutes(1)))
struct RequestTests {
    let id: TransactionID

    init() throws { id = try #require(TransactionID("2000000123456789")) }

    @Test
    func `history without filters asks for nothing more than the ID`() async throws {
        let apple = try ScriptedApple { _ in answer(200, emptyPage) }
        let page = try await withClient(of: apple) {
            try await $0.transactionHistory(of: id, query: HistoryQuery(), revision: nil)
        }
        let request = try #require(apple.requests.first)
        #expect(request.line == "GET /inApps/v2/history/2000000123456789")
        #expect(request.header("Accept") == "application/json")
        #expect(request.header("Authorization")?.hasPrefix("Bearer eyJ") == true)
        #expect(page == Page(records: [], cursor: "r", hasMore: false))
    }

    @Test
    func `every filter goes out under Apple's name, repeated ones repeated, on each page`() async throws {
        var query = HistoryQuery()
        query.startDate = UnixMilliseconds(rawValue: 1_690_000_000_000)
        query.endDate = UnixMilliseconds(rawValue: 1_700_000_000_000)
        query.productIds = ["com.example.a", "b&c=d/e"]
        query.productTypes = [.consumable, .autoRenewable]
        query.subscriptionGroupIdentifiers = ["1", "2"]
        query.inAppOwnershipType = .familyShared
        query.revoked = false
        query.sort = .descending
        let filters =
            "startDate=1690000000000&endDate=1700000000000&productId=com.example.a&productId=b%26c%3Dd%2Fe"
            + "&productType=CONSUMABLE&productType=AUTO_RENEWABLE&subscriptionGroupIdentifier=1"
            + "&subscriptionGroupIdentifier=2&inAppOwnershipType=FAMILY_SHARED&revoked=false&sort=DESCENDING"

        let apple = try ScriptedApple { _ in answer(200, emptyPage) }
        try await withClient(of: apple) { [query] client in
            for revision in [nil, "r1"] {
                _ = try await client.transactionHistory(of: id, query: query, revision: revision)
            }
        }
        #expect(
            apple.requests.map(\.line) == [
                "GET /inApps/v2/history/2000000123456789?\(filters)",
                "GET /inApps/v2/history/2000000123456789?\(filters)&revision=r1",
            ]
        )
    }

    @Test(arguments: [
        ("+/=&", "%2B%2F%3D%26"), ("a b%20", "a%20b%2520"), ("-._~Az09", "-._~Az09"), ("é\u{0}\r\n", "%C3%A9%00%0D%0A"),
        ("1700000000000_20#?", "1700000000000_20%23%3F"), ("", ""),
    ])
    func `a cursor survives the way to Apple`(cursor: String, encoded: String) async throws {
        let apple = try ScriptedApple { request in
            answer(
                200,
                request.line.contains("notifications") ? #"{"hasMore":false,"paginationToken":"t"}"# : emptyPage
            )
        }
        let now = UnixMilliseconds(rawValue: 2)
        try await withClient(of: apple) { client in
            _ = try await client.refundHistory(of: id, revision: cursor)
            _ = try await client.notificationHistory(
                NotificationQuery(startDate: UnixMilliseconds(rawValue: 1), endDate: now),
                paginationToken: cursor
            )
        }
        #expect(
            apple.requests.map(\.line) == [
                "GET /inApps/v2/refund/lookup/2000000123456789?revision=\(encoded)",
                "POST /inApps/v1/notifications/history?paginationToken=\(encoded)",
            ]
        )
    }

    @Test
    func `the notification body is the same on each page`() async throws {
        var query = NotificationQuery(startDate: UnixMilliseconds(rawValue: 1), endDate: UnixMilliseconds(rawValue: 2))
        query.notificationType = "REFUND"
        query.notificationSubtype = #"a"b"#
        query.onlyFailures = false
        let apple = try ScriptedApple { _ in answer(200, #"{"hasMore":true,"paginationToken":"t"}"#) }
        try await withClient(of: apple) { [query] client in
            for token in [nil, "t"] { _ = try await client.notificationHistory(query, paginationToken: token) }
        }
        let body =
            #"{"startDate":1,"endDate":2,"notificationType":"REFUND","notificationSubtype":"a\"b","onlyFailures":false}"#
        #expect(apple.requests.map(\.body) == [body, body])
        #expect(apple.requests.allSatisfy { $0.header("Content-Type") == "application/json" })
        #expect(apple.requests.first?.line == "POST /inApps/v1/notifications/history")
    }

    @Test
    func `a notification body holds only what is asked for`() async throws {
        var query = NotificationQuery(startDate: UnixMilliseconds(rawValue: 1), endDate: UnixMilliseconds(rawValue: 2))
        query.transactionId = id
        let apple = try ScriptedApple { _ in answer(200, #"{"hasMore":false}"#) }
        _ = try await withClient(of: apple) { [query] in try await $0.notificationHistory(query, paginationToken: nil) }
        #expect(apple.requests.map(\.body) == [#"{"startDate":1,"endDate":2,"transactionId":"2000000123456789"}"#])
    }

    @Test
    func `the probe asks for the failures of the last minute and gives Apple's clock`() async throws {
        let apple = try ScriptedApple { _ in answer(200, #"{"hasMore":false}"#, ["Date: Sat, 21 Nov 2026 03:00:00 GMT"])
        }
        let said = try await withClient(of: apple) { try await $0.probe() }
        #expect(said == HTTPAnswer(status: 200, errorCode: nil, message: "", date: "Sat, 21 Nov 2026 03:00:00 GMT"))
        #expect(
            apple.requests.map(\.body)
                == [#"{"startDate":1699999940000,"endDate":1700000000000,"onlyFailures":true}"#]
        )
    }

    @Test
    func `the probe tells a refusal instead of throwing it`() async throws {
        let apple = try ScriptedApple { _ in answer(401, "Unauthenticated\n") }
        let said = try await withClient(of: apple) { try await $0.probe() }
        #expect(said == HTTPAnswer(status: 401, errorCode: nil, message: #"Unauthenticated\u{a}"#))
    }
}
