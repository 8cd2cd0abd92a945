import AppStoreModel
import JobFiles
import Streams
import StrictJSON
import Testing

struct PageDecoderTests {
    private static func history(_ text: String) throws -> Page {
        try TransactionHistory.page(Array(text.utf8))
    }

    private static func isBadPage(_ text: String) -> Bool {
        do throws(RequestFailure) {
            _ = try TransactionHistory.page(Array(text.utf8))
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
        let page = try RefundHistory.page(
            Array(#"{"revision":"r","hasMore":false,"signedTransactions":[]}"#.utf8)
        )
        #expect(page == Page(records: [], cursor: "r", hasMore: false))
    }

    /// The section's own decoding, which depends on its version.
    private static func page(_ body: String, of section: String) throws -> Page {
        let stream = try #require(try StreamTests.load(section).streams.all.first)
        return try stream.page(Array(body.utf8))
    }

    @Test
    func `a refund history response of version 1 is one page of all its refunds`() throws {
        let records = (1...50).map { PageRecord.refund(jws: "a.b.\($0)") }
        let texts = (1...50).map { "\"a.b.\($0)\"" }.joined(separator: ",")
        let section = "refundHistory: {version: 1}"
        let page = try Self.page("{\"signedTransactions\":[\(texts)]}", of: section)
        #expect(page == Page(records: records, cursor: nil, hasMore: false))
        #expect(try Self.page(#"{"signedTransactions":[],"new":1}"#, of: section).records.isEmpty)
        #expect(try Self.page(#"{"signedTransactions":[5]}"#, of: section).records == [.unreadable("5")])
        // Version 2 needs hasMore, so one version's answer is never read as the other's.
        #expect(throws: RequestFailure.self) {
            try Self.page(#"{"signedTransactions":[]}"#, of: "refundHistory: {}")
        }
    }

    @Test(arguments: [
        "{}", #"{"signedTransactions":null}"#, #"{"signedTransactions":{}}"#, #"{"status":"ok"}"#, "[]", "",
    ])
    func `N34 an answer of version 1 without a list of refunds is a bad page, not an empty history`(
        _ body: String
    ) throws {
        let failure = #expect(throws: RequestFailure.self) { try Self.page(body, of: "refundHistory: {version: 1}") }
        guard case .badPage = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
    }

    @Test
    func `a history response of version 1 is read like one of version 2`() throws {
        let body = #"{"revision":"r1","hasMore":true,"bundleId":"com.example","signedTransactions":["a.b.c"]}"#
        #expect(try Self.page(body, of: "transactionHistory: {version: 1}") == Self.history(body))
    }

    @Test
    func `a notification history response is a page with its send attempts`() throws {
        let text = """
            {"paginationToken":"t","hasMore":true,"notificationHistory":[
            {"signedPayload":"a.b.c","sendAttempts":[{"attemptDate":1}]},{"signedPayload":"d.e.f"}]}
            """
        let page = try NotificationHistory.page(Array(text.utf8))
        let attempt = try StrictJSON.scan(Array(#"{"attemptDate":1}"#.utf8))
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

    /// A fault of a page, which the log of the tests shows by its ID: some have millions of bytes.
    struct Fault: CustomTestStringConvertible, Sendable {
        let id: String
        let bytes: [UInt8]

        init(_ id: String, _ bytes: [UInt8]) {
            self.id = id
            self.bytes = bytes
        }

        var testDescription: String { "\(id), \(bytes.count) bytes" }
    }

    /// A page of any of the three histories with something in it that no two readers understand alike.
    @Test(
        arguments: ["signedTransactions", "notificationHistory"],
        [
            Fault("N01", Array(#","hasMore":true"#.utf8)), Fault("N01", Array(#","\u0068asMore":true"#.utf8)),
            Fault("N04", Array(#","x":""#.utf8) + [0xFF, 0xFE] + Array("\"".utf8)),
            Fault("N04", Array(#","x":""#.utf8) + [0xC0, 0xAF] + Array("\"".utf8)),
            Fault("N04", Array(#","x":""#.utf8) + [0xED, 0xA0, 0x80] + Array("\"".utf8)),
            Fault("N05", Array(#","x":"\ud800""#.utf8)), Fault("N06", Array(#","x":"\u0000""#.utf8)),
            Fault("N07", Array(",".utf8)), Fault("N07", Array(#","x":1."#.utf8)),
            Fault(
                "N18",
                Array((",\"x\":" + String(repeating: "[", count: 32) + String(repeating: "]", count: 32)).utf8)
            ),
            Fault("N20", Array(",\"x\":\"".utf8) + [UInt8](repeating: 0x78, count: 4 << 20) + Array("\"".utf8)),
            Fault("N21", Array((",\"x\":" + String(repeating: "9", count: 1_000_000)).utf8)),
        ] as [Fault]
    )
    func `N01 N04 N05 N06 N07 N18 N20 N21 a page is strict JSON before anything in it is looked at`(
        list: String,
        fault: Fault
    ) throws {
        let good = Array("{\"hasMore\":false,\"\(list)\":[]".utf8)
        let decoders: [([UInt8]) throws -> Page] =
            list == "signedTransactions"
            ? [{ try TransactionHistory.page($0) }, { try RefundHistory.page($0) }]
            : [{ try NotificationHistory.page($0) }]
        for decode in decoders {
            _ = try decode(good + [UInt8(ascii: "}")])
            let failure = #expect(throws: RequestFailure.self) { try decode(good + fault.bytes + [UInt8(ascii: "}")]) }
            guard case .badPage = failure else {
                Issue.record("\(fault.id): \(String(describing: failure))")
                return
            }
        }
    }

    @Test func `N03 a page in UTF-16 or UTF-32 is bad`() throws {
        let text = #"{"hasMore":false}"#
        _ = try RefundHistory.page(Array(text.utf8))
        let marks: [[UInt8]] = [[], [0xFF, 0xFE], [0xFE, 0xFF]]
        for mark in marks {
            for (before, after) in [(0, 1), (1, 0), (3, 0)] {
                let body = text.utf8.flatMap { byte -> [UInt8] in
                    [UInt8](repeating: 0, count: before) + [byte] + [UInt8](repeating: 0, count: after)
                }
                #expect(throws: RequestFailure.self) { try RefundHistory.page(mark + body) }
            }
        }
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
        let page = try NotificationHistory.page(Array(text.utf8))
        #expect(
            page.records == [
                .unreadable(#"{"sendAttempts":[]}"#), .unreadable("7"),
                .notification(jws: "a.b.c", sendAttempts: [try StrictJSON.scan(Array(#""x""#.utf8))]),
                .notification(jws: "d.e.f", sendAttempts: []),
            ]
        )
    }
}
