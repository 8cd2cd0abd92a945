import AppStoreModel
import Testing

struct PageDecoderTests {
    private static func history(_ text: String) throws -> Page {
        try PageDecoder.transactionHistory(Array(text.utf8))
    }

    private static func isBadPage(_ text: String) -> Bool {
        do throws(RequestFailure) {
            _ = try PageDecoder.transactionHistory(Array(text.utf8))
            return false
        } catch {
            guard case .badPage = error else { return false }
            return true
        }
    }

    @Test
    func `a history response is a page`() throws {
        let page = try Self.history(
            #"{"revision":"r1","hasMore":true,"bundleId":"com.example","environment":"Sandbox","signedTransactions":["a.b.c","d.e.f"],"new":1}"#
        )
        let records = [PageRecord.transaction(jws: "a.b.c"), .transaction(jws: "d.e.f")]
        #expect(
            page
                == Page(records: records, cursor: "r1", hasMore: true, bundleId: "com.example", environment: "Sandbox")
        )
    }

    @Test
    func `a refund history response is a page`() throws {
        let page = try PageDecoder.refundHistory(
            Array(#"{"revision":"r","hasMore":false,"signedTransactions":[]}"#.utf8)
        )
        #expect(page == Page(records: [], cursor: "r", hasMore: false))
    }

    @Test
    func `a notification history response is a page with its send attempts`() throws {
        let text = """
            {"paginationToken":"t","hasMore":true,"notificationHistory":[
            {"signedPayload":"a.b.c","sendAttempts":[{"attemptDate":1}]},{"signedPayload":"d.e.f"}]}
            """
        let page = try PageDecoder.notificationHistory(Array(text.utf8))
        let attempt = JSONValue.object(JSONObject([.init(key: "attemptDate", value: .number(JSONNumber(text: "1")))]))
        let records = [
            PageRecord.notification(jws: "a.b.c", sendAttempts: [attempt]),
            .notification(jws: "d.e.f", sendAttempts: []),
        ]
        #expect(page == Page(records: records, cursor: "t", hasMore: true))
    }

    @Test(arguments: ["", "[]", "null", "{}{}", "\u{FEFF}{\"hasMore\":false}", #"{"hasMore":false,"hasMore":true}"#])
    func `N02 N08 N09 a body that is not strictly one JSON object is a bad page`(_ text: String) {
        #expect(Self.isBadPage(text))
    }

    @Test(arguments: [#"{"revision":"r"}"#, #"{"revision":"r","hasMore":"true"}"#, #"{"revision":"r","hasMore":null}"#])
    func `N23 a page without a true or false hasMore is bad`(_ text: String) {
        #expect(Self.isBadPage(text))
    }

    @Test(arguments: [#"{"hasMore":true}"#, #"{"hasMore":true,"revision":""}"#, #"{"hasMore":true,"revision":null}"#])
    func `N24 more pages without a cursor to ask for them are a bad page`(_ text: String) {
        #expect(Self.isBadPage(text))
    }

    @Test(arguments: [#"{"hasMore":false}"#, #"{"hasMore":false,"revision":""}"#])
    func `N26 the last page may lack its cursor`(_ text: String) throws {
        #expect(try Self.history(text).cursor == nil)
    }

    @Test(arguments: [(21, false), (200, false), (201, true)])
    func `N27 more than 200 records are a bad page`(_ count: Int, _ isBad: Bool) {
        let records = Array(repeating: #""a.b.c""#, count: count).joined(separator: ",")
        #expect(Self.isBadPage(#"{"hasMore":false,"signedTransactions":[\#(records)]}"#) == isBad)
    }

    @Test(arguments: [#"{"hasMore":false,"signedTransactions":null}"#, #"{"hasMore":false}"#])
    func `N28 a missing list is an empty one`(_ text: String) throws {
        #expect(try Self.history(text).records.isEmpty)
    }

    @Test
    func `N28 an element that is no text costs itself, not the page`() throws {
        let page = try Self.history(#"{"hasMore":false,"signedTransactions":[null,"",5,{"a":1},"a.b.c"]}"#)
        let unreadable = ["null", #""""#, "5", #"{"a":1}"#].map(PageRecord.unreadable)
        #expect(page.records == unreadable + [.transaction(jws: "a.b.c")])
    }

    @Test(arguments: [
        #"{"hasMore":false,"signedTransactions":{}}"#, #"{"hasMore":false,"revision":5}"#,
        #"{"hasMore":false,"bundleId":5}"#, #"{"hasMore":false,"environment":["Sandbox"]}"#,
    ])
    func `a member of another type makes the page bad`(_ text: String) {
        #expect(Self.isBadPage(text))
    }

    @Test(arguments: [(4_096, false), (4_097, true), (65_536, true)])
    func `N30 a cursor longer than a request line can carry is bad`(_ bytes: Int, _ isBad: Bool) {
        let revision = String(repeating: "r", count: bytes)
        #expect(Self.isBadPage(#"{"hasMore":true,"revision":"\#(revision)"}"#) == isBad)
    }

    @Test
    func `N30 a cursor of any characters is kept as it is`() throws {
        let page = try Self.history(#"{"hasMore":true,"revision":"a&b#c%00\n😀"}"#)
        #expect(page.cursor == "a&b#c%00\n😀")
    }

    @Test
    func `N33 a notification item without signedPayload is unreadable, and odd sendAttempts are kept`() throws {
        let text =
            #"{"hasMore":false,"notificationHistory":[{"sendAttempts":[]},7,{"signedPayload":"a.b.c","sendAttempts":"x"},{"signedPayload":"d.e.f","sendAttempts":null}]}"#
        let page = try PageDecoder.notificationHistory(Array(text.utf8))
        #expect(
            page.records == [
                .unreadable(#"{"sendAttempts":[]}"#), .unreadable("7"),
                .notification(jws: "a.b.c", sendAttempts: [.string("x")]),
                .notification(jws: "d.e.f", sendAttempts: []),
            ]
        )
    }
}
