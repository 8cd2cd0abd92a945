import AppStoreModel
import JobPlan
import Testing

/// What Apple is asked for an item of each stream, byte for byte.
@Suite struct StreamRequestTests {
    private static let now = UnixMilliseconds(rawValue: 1_700_000_000_000)

    private func request(
        _ section: String,
        key: String = "2000000123456789",
        cursor: String? = nil,
        window: Range<Int64>? = nil
    ) throws -> AppStoreRequest? {
        let stream = try #require(try StreamTests.load(section).streams.all.first)
        let window = window.map {
            UnixMilliseconds(rawValue: $0.lowerBound)..<UnixMilliseconds(rawValue: $0.upperBound)
        }
        let item = WorkItem(
            stream: stream.name,
            key: key,
            epoch: 1,
            pageSequence: 0,
            cursor: cursor,
            window: window
        )
        return stream.request(for: item, now: Self.now)
    }

    @Test func `history without filters sends only the ID`() throws {
        #expect(try request("transactionHistory: {}") == .get("/inApps/v2/history/2000000123456789"))
    }

    @Test func `every filter goes out under Apple's name, repeated ones repeated, on each page`() throws {
        let section = """
            transactionHistory: {startDate: "2023-07-22T04:26:40Z", endDate: now, productIds: [b&c=d/e, com.example.a], \
            productTypes: [CONSUMABLE, AUTO_RENEWABLE], subscriptionGroupIdentifiers: ["2", "1"], \
            inAppOwnershipType: FAMILY_SHARED, revoked: false, sort: DESCENDING}
            """
        let target =
            "/inApps/v2/history/2000000123456789?startDate=1690000000000&endDate=1700000000000&productId=b%26c%3Dd%2Fe"
            + "&productId=com.example.a&productType=AUTO_RENEWABLE&productType=CONSUMABLE&subscriptionGroupIdentifier=1"
            + "&subscriptionGroupIdentifier=2&inAppOwnershipType=FAMILY_SHARED&revoked=false&sort=DESCENDING"
        #expect(try request(section) == .get(target))
        #expect(try request(section, cursor: "r1") == .get(target + "&revision=r1"))
    }

    @Test func `relative dates are those of the moment the run began, and lists are sorted and without repetition`()
        throws
    {
        let section = "transactionHistory: {startDate: -1d, endDate: now, productIds: [b, a, b]}"
        let target =
            "/inApps/v2/history/2000000123456789?startDate=1699913600000&endDate=1700000000000&productId=a&productId=b"
        #expect(try request(section) == .get(target))
    }

    @Test func `refund history is requested by ID, with the cursor`() throws {
        #expect(
            try request("refundHistory: {}", cursor: "r+1")
                == .get("/inApps/v2/refund/lookup/2000000123456789?revision=r%2B1")
        )
    }

    @Test func `transaction info is requested by ID, and its answer is a page of one record`() throws {
        #expect(try request("transactionInfo: {}") == .get("/inApps/v1/transactions/2000000123456789"))
        let page = try TransactionInfo.page(Array(#"{"signedTransactionInfo":"a.b.c"}"#.utf8))
        #expect(page == Page(records: [.transaction(jws: "a.b.c")], cursor: nil, hasMore: false))
        for body in ["{}", #"{"signedTransactionInfo":null}"#, "[]", ""] {
            #expect(throws: RequestFailure.self, "\(body)") { try TransactionInfo.page(Array(body.utf8)) }
        }
        let odd = try TransactionInfo.page(Array(#"{"signedTransactionInfo":7}"#.utf8))
        #expect(odd.records == [.unreadable("7")])
    }

    @Test func `the notification body has what the section and the window say, and is the same on each page`() throws {
        let section = "notificationHistory: {scope: app, notificationType: REFUND, notificationSubtype: VOLUNTARY}"
        let body = #"{"startDate":1,"endDate":2,"notificationType":"REFUND","notificationSubtype":"VOLUNTARY"}"#
        for cursor in [nil, "t"] {
            let request = try request(section, key: "1..2#x", cursor: cursor, window: 1..<2)
            #expect(
                request
                    == .post(
                        "/inApps/v1/notifications/history",
                        [("paginationToken", cursor)],
                        body: Array(body.utf8)
                    )
            )
        }
    }

    @Test func `a notification body names the ID of its item, and failures where only those are read`() throws {
        func body(_ section: String, key: String) throws -> String? {
            try request(section, key: key, window: 1..<2)?.body.map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(
            try body("notificationHistory: {}", key: "2000000123456789")
                == #"{"startDate":1,"endDate":2,"transactionId":"2000000123456789"}"#
        )
        #expect(
            try body("notificationHistory: {scope: app}", key: "failures#x")
                == #"{"startDate":1,"endDate":2,"onlyFailures":true}"#
        )
    }

    @Test func `the probe requests the failures of the last minute`() {
        let body = #"{"startDate":1699999940000,"endDate":1700000000000,"onlyFailures":true}"#
        #expect(
            NotificationHistory.probe(at: Self.now) == .post("/inApps/v1/notifications/history", body: Array(body.utf8))
        )
    }

    @Test func `an item that the section does not plan gives no request`() throws {
        #expect(try request("transactionHistory: {}", key: "1..2#x") == nil)
        #expect(try request("notificationHistory: {}") == nil)
    }

    @Test func `each stream has a name of its own, a limit and effects for the codes it can meet`() {
        #expect(Set(AllStreams.names).count == AllStreams.types.count)
        for type in AllStreams.types {
            #expect(AllStreams.type(of: type.name) == type)
            #expect(type.requestsPerSecond(in: .sandbox) == type.requestsPerSecond / 10 && type.requestsPerSecond > 0)
            #expect(type.errorEffects[.appNotFound] == .stopsRunForOtherApp)
        }
        #expect(AllStreams.types.count { $0.namesChangedCustomers } == 1)
    }
}
