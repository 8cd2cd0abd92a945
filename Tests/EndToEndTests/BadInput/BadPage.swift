/// A page that Apple would not send: the JSON around the signed records.
struct BadPage: Sendable {
    let id: String
    let note: String
    /// In `crawl_items`: state, cursor, pages, transactions loaded and records rejected.
    let outcome: String
    let body: @Sendable (RecordScene) -> String

    /// No page at all: requested three times, and then the item fails at its cursor.
    static func bad(_ id: String, _ note: String, _ body: @escaping @Sendable (RecordScene) -> String) -> BadPage {
        BadPage(id: id, note: note, outcome: "failed - 0 0 0 | 3", body: body)
    }

    /// A page, although something about it is odd.
    static func good(
        _ id: String,
        _ note: String,
        cursor: String = "r",
        loaded: Int = 0,
        _ body: @escaping @Sendable (RecordScene) -> String
    ) -> BadPage {
        BadPage(id: id, note: note, outcome: "done \(cursor) 1 \(loaded) 0 | 1", body: body)
    }

    static let notJSON: [BadPage] =
        [
            .bad("N01", "hasMore twice") { page($0, #","hasMore":false"#) },
            .bad("N01", "hasMore twice, once escaped") { page($0, #","\u0068asMore":false"#) },
            .bad("N01", "one name twice somewhere inside") { page($0, #","extra":[{"a":1,"a":1}]"#) },
            .bad("N02", "a byte order mark") { "\u{FEFF}" + page($0) },
            .bad("N05", "half a surrogate pair") { page($0, #","extra":"\ud800""#) },
            .bad("N06", "U+0000") { page($0, #","extra":"a\u0000b""#) },
        ]
        + [",", #","extra":NaN"#, #","extra":01"#, #","extra":+1"#, #","extra":.5"#, #","extra":1."#].map { end in
            .bad("N07", end) { page($0, end) }
        }
        + ["/**/", "//\n", "{}", " x"].map { end in .bad("N08", "\(end) after the end") { page($0) + end } }

    static let notPages: [BadPage] =
        ["", "   ", "[]", #""text""#, "7", "null"].map { body in .bad("N09", body) { _ in body } }
        + [33, 513, 100_000].map { depth in
            .bad("N18", "\(depth) levels") {
                page(
                    $0,
                    ",\"deep\":" + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
                )
            }
        }
        + [
            .good("N19", "200,000 names in the page", loaded: 1) { scene in
                page(scene, (0..<200_000).map { ",\"k\($0)\":0" }.joined())
            },
            .bad("N21", "a number of 1,000,000 digits") {
                page($0, ",\"n\":" + String(repeating: "9", count: 1_000_000))
            },
        ]
        + ["", #","hasMore":"true""#, #","hasMore":null"#].map { member in
            .bad("N23", "hasMore \(member)") { "{\"revision\":\"r\"\(member),\"signedTransactions\":[\(record($0))]}" }
        }
        + ["", #","revision":"""#].map { member in
            .bad("N24", "more pages, revision \(member)") {
                "{\"hasMore\":true\(member),\"signedTransactions\":[\(record($0))]}"
            }
        }

    static let odd: [BadPage] = [
        .good("N26", "the last page without a revision", cursor: "-", loaded: 1) {
            "{\"hasMore\":false,\"signedTransactions\":[\(record($0))]}"
        },
        .good("N27", "21 records", loaded: 1) { page(of: Array(repeating: record($0), count: 21)) },
        .good("N27", "200 records", loaded: 1) { page(of: Array(repeating: record($0), count: 200)) },
        .bad("N27", "201 records") { page(of: Array(repeating: record($0), count: 201)) },
        .good("N28", "signedTransactions null") { _ in #"{"revision":"r","hasMore":false,"signedTransactions":null}"# },
        .good("N28", "no signedTransactions") { _ in #"{"revision":"r","hasMore":false}"# },
        .bad("N30", "a revision of 64 KiB") {
            "{\"revision\":\"\(String(repeating: "r", count: 65_536))\",\"hasMore\":true,\"signedTransactions\":[\(record($0))]}"
        },
        .good("N30", "a revision of any characters", cursor: "a&b#c%00\n😀", loaded: 1) {
            "{\"revision\":\"a&b#c%00\\n😀\",\"hasMore\":false,\"signedTransactions\":[\(record($0))]}"
        },
    ]

    private static func record(_ scene: RecordScene) -> String { "\"\(scene.good)\"" }

    /// A good page, with something before its last brace.
    private static func page(_ scene: RecordScene, _ end: String = "") -> String {
        page(of: [record(scene)], end)
    }

    private static func page(of records: [String], _ end: String = "") -> String {
        "{\"revision\":\"r\",\"hasMore\":false,\"signedTransactions\":[\(records.joined(separator: ","))]\(end)}"
    }
}
