import AppStoreModel
import JobFiles
import Streams
import Testing

/// The request to Apple for an item of each stream, byte for byte.
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

    @Test func `every filter is sent under Apple's name on each page, with a parameter for each value`() throws {
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

    @Test func `relative dates count from the moment the run began, and lists are sorted and without repetition`()
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

    @Test func `version 1 of a history has the same filters and pages under its own path`() throws {
        let section = "transactionHistory: {version: 1, revoked: true, productTypes: [CONSUMABLE]}"
        let target = "/inApps/v1/history/2000000123456789?productType=CONSUMABLE&revoked=true"
        #expect(try request(section) == .get(target))
        #expect(try request(section, cursor: "r1") == .get(target + "&revision=r1"))
        #expect(
            try request("transactionHistory: {version: 2}") == .get("/inApps/v2/history/2000000123456789")
        )
        #expect(
            try request("transactionHistory: {inAppOwnershipType: ASSIGNED}")
                == .get("/inApps/v2/history/2000000123456789?inAppOwnershipType=ASSIGNED")
        )
    }

    @Test func `version 1 of refund history is one request without a cursor, and version 2 is unchanged`() throws {
        let path = "/refund/lookup/2000000123456789"
        #expect(try request("refundHistory: {version: 1}") == .get("/inApps/v1" + path))
        #expect(try request("refundHistory: {version: 2}") == .get("/inApps/v2" + path))
        #expect(RefundHistory.errorEffects[.invalidOriginalTransactionId] == .failsItem)
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

    @Test func `subscription statuses are requested by ID with each status once, and a page has every subscription`()
        throws
    {
        let path = "/inApps/v1/subscriptions/2000000123456789"
        #expect(try request("subscriptionStatuses: {}") == .get(path))
        #expect(try request("subscriptionStatuses: {status: [4, 3, 3]}") == .get(path + "?status=3&status=4"))
        let body = """
            {"bundleId":"b","environment":"Production","data":[{"subscriptionGroupIdentifier":"21","lastTransactions":[
            {"originalTransactionId":"1","status":3,"signedTransactionInfo":"a.b.c","signedRenewalInfo":"d.e.f"},
            {"originalTransactionId":"2","status":"x","signedTransactionInfo":"a.b.c","signedRenewalInfo":"d.e.f"}]},7]}
            """
        let page = try SubscriptionStatuses.page(Array(body.utf8))
        #expect(!page.hasMore && page.bundleId == "b" && page.environment == "Production" && page.records.count == 3)
        guard case .subscriptionStatus(let first) = page.records[0] else { throw Unexpected() }
        #expect(first.subscriptionGroupIdentifier == "21" && first.originalTransactionId == "1" && first.status == 3)
        #expect(first.transaction == "a.b.c" && first.renewalInfo == "d.e.f")
        #expect(first.problem == nil)
        // Its signed records are read without the status.
        guard case .subscriptionStatus(let odd) = page.records[1] else { throw Unexpected() }
        #expect(odd.originalTransactionId == "2" && odd.transaction == "a.b.c" && odd.renewalInfo == "d.e.f")
        #expect(odd.status == nil && odd.problem == "status is a string; it must be an integer")
        #expect(odd.text.contains(#""status":"x""#) && page.records[2] == .unreadable("7"))
        // A customer without subscriptions.
        #expect(try SubscriptionStatuses.page(Array(#"{"data":[]}"#.utf8)).records.isEmpty)
        #expect(throws: RequestFailure.self) { try SubscriptionStatuses.page(Array("{}".utf8)) }
    }

    @Test func `an app transaction is requested by any ID of its customer`() throws {
        #expect(
            try request("appTransaction: {}") == .get("/inApps/v1/transactions/appTransactions/2000000123456789")
        )
        let page = try AppTransaction.page(Array(#"{"signedAppTransactionInfo":"a.b.c"}"#.utf8))
        #expect(page == Page(records: [.appTransaction(jws: "a.b.c")], cursor: nil, hasMore: false))
    }

    @Test func `an order is looked up by its ID; invalid is an answer, another status is not`() throws {
        let section = #"orderLookup: {orderIds: {list: ["MK5TVRJBTF"]}}"#
        #expect(try request(section, key: "MK5TVRJBTF") == .get("/inApps/v1/lookup/MK5TVRJBTF"))
        #expect(try request(section, key: "a/b") == nil)
        let valid = try OrderLookup.page(Array(#"{"status":0,"signedTransactions":["a.b.c"]}"#.utf8))
        #expect(valid.records == [.order(isValid: true, transactions: ["a.b.c"])])
        #expect(
            try OrderLookup.page(Array(#"{"status":1}"#.utf8)).records == [.order(isValid: false, transactions: [])]
        )
        // Apple: a valid order has at least one transaction.
        let withoutTransactions = [
            #"{"status":0}"#, #"{"status":0,"signedTransactions":null}"#, #"{"status":0,"signedTransactions":[]}"#,
        ]
        for body in [#"{"status":2}"#, "{}", #"{"status":"0"}"#] + withoutTransactions {
            #expect(throws: RequestFailure.self, "\(body)") { try OrderLookup.page(Array(body.utf8)) }
        }
    }

    private struct Unexpected: Error {}

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

    @Test func `the probe requests all notifications that Apple still has`() {
        let start = Self.now - .seconds(30 * 86_400)
        #expect(AppStoreEnvironment.sandbox.oldestNotification(at: Self.now) >= start)
        let oldest = AppStoreEnvironment.sandbox.oldestNotification(at: Self.now).rawValue
        let body = #"{"startDate":\#(oldest),"endDate":1700000000000}"#
        #expect(
            NotificationHistory.probe(at: Self.now, in: .sandbox)
                == .post("/inApps/v1/notifications/history", body: Array(body.utf8))
        )
    }

    @Test func `an item that the section does not plan gives no request`() throws {
        #expect(try request("transactionHistory: {}", key: "1..2#x") == nil)
        #expect(try request("notificationHistory: {}") == nil)
    }

    @Test func `each stream has a unique name, a limit and effects for the codes it can meet`() {
        #expect(Set(AllStreams.names).count == AllStreams.types.count)
        for type in AllStreams.types {
            #expect(AllStreams.type(of: type.name) == type)
            #expect(type.requestsPerSecond(in: .sandbox) == type.requestsPerSecond / 10 && type.requestsPerSecond > 0)
            #expect(type.errorEffects[.appNotFound] == .stopsRunForOtherApp)
        }
        #expect(AllStreams.types.count { $0.namesChangedCustomers } == 1)
        #expect(AllStreams.types.filter { !$0.hasNumberedErrors }.map { $0.name } == [.seats])
    }
}
