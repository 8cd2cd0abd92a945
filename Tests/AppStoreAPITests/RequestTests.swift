import AppStoreAPI
import AppStoreModel
import Streams
import Testing

/// How a request of a stream reaches Apple; ``Streams`` says what it is.
struct RequestTests {
    @Test
    func `a GET request carries its target, a token and no body`() async throws {
        let apple = try ScriptedApple { _ in answer(200, emptyPage) }
        let page = try await withClient(of: apple) {
            try await $0.page(.get("/inApps/v2/history/2000000123456789"), decode: TransactionHistory.page)
        }
        let request = try #require(apple.requests.first)
        #expect(request.line == "GET /inApps/v2/history/2000000123456789")
        #expect(request.header("Accept") == "application/json")
        #expect(request.header("Authorization")?.hasPrefix("Bearer eyJ") == true)
        #expect(request.header("Content-Type") == nil)
        #expect(page == Page(records: [], cursor: "r", hasMore: false))
    }

    @Test(arguments: [
        ("+/=&", "%2B%2F%3D%26"), ("a b%20", "a%20b%2520"), ("-._~Az09", "-._~Az09"), ("é\u{0}\r\n", "%C3%A9%00%0D%0A"),
        ("1700000000000_20#?", "1700000000000_20%23%3F"), ("", ""),
    ])
    func `a cursor survives the way to Apple`(cursor: String, encoded: String) async throws {
        let apple = try ScriptedApple { _ in answer(200, emptyPage) }
        _ = try await withClient(of: apple) { try await $0.somePage(revision: cursor) }
        #expect(apple.requests.map(\.line) == ["GET /inApps/v2/refund/lookup/1?revision=\(encoded)"])
    }

    @Test
    func `a POST request carries its JSON`() async throws {
        let apple = try ScriptedApple { _ in answer(200, #"{"hasMore":true,"paginationToken":"t"}"#) }
        let body = #"{"startDate":1,"endDate":2}"#
        _ = try await withClient(of: apple) {
            try await $0.page(
                .post("/inApps/v1/notifications/history", [("paginationToken", "t")], body: Array(body.utf8)),
                decode: NotificationHistory.page
            )
        }
        #expect(apple.requests.map(\.body) == [body])
        #expect(apple.requests.first?.header("Content-Type") == "application/json")
        #expect(apple.requests.first?.line == "POST /inApps/v1/notifications/history?paginationToken=t")
    }

    @Test
    func `a POST request without a body names no type`() async throws {
        let apple = try ScriptedApple { _ in answer(200, "") }
        _ = try await withClient(of: apple) { try await $0.write(.post("/inApps/v1/transactions/1/finish")) }
        let request = try #require(apple.requests.first)
        #expect(request.line == "POST /inApps/v1/transactions/1/finish" && request.body == "")
        #expect(request.header("Content-Type") == nil)
    }

    @Test
    func `a page has the time of Apple's clock, and a refusal has Apple's words`() async throws {
        let date = "Sat, 21 Nov 2026 03:00:00 GMT"
        let apple = try ScriptedApple { _ in answer(200, #"{"hasMore":false}"#, ["Date: \(date)"]) }
        let page = try await withClient(of: apple) {
            try await $0.page(.get("/x"), decode: NotificationHistory.page)
        }
        #expect(page.date == date && page.records.isEmpty)

        let refusing = try ScriptedApple { _ in answer(401, "Unauthenticated\n") }
        let refusal = RequestFailure.answered(
            HTTPAnswer(status: 401, errorCode: nil, message: #"Unauthenticated\u{a}"#)
        )
        await #expect(throws: refusal) {
            try await withClient(of: refusing) { try await $0.page(.get("/x"), decode: NotificationHistory.page) }
        }
    }
}
