import AppStoreModel

extension BadRecord {
    /// Properly signed, and not the JSON that everybody reads alike.
    static let payloads: [BadRecord] =
        [
            .rejected("N01", "price twice", "dup_key") { try $0.signed(appending: #","price":1"#) },
            .rejected("N01", "price twice, once escaped", "dup_key") { try $0.signed(appending: #","\u0070rice":1"#) },
            .rejected("N02", "a byte order mark", "encoding") { scene in
                try scene.signed(bytes: [0xEF, 0xBB, 0xBF] + Array(scene.payload().utf8))
            },
            .rejected("N03", "UTF-16LE", "encoding") { scene in
                try scene.signed(bytes: scene.payload().utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
            },
            .rejected("N03", "UTF-16BE", "encoding") { scene in
                try scene.signed(bytes: scene.payload().utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
            },
            .rejected("N03", "UTF-32", "encoding") { scene in
                try scene.signed(bytes: scene.payload().utf8.flatMap { [0, 0, 0, $0] })
            },
            .rejected("N04", "FF FE", "encoding") { try $0.signed(inProductId: [0xFF, 0xFE]) },
            .rejected("N04", "an overlong slash", "encoding") { try $0.signed(inProductId: [0xC0, 0xAF]) },
            .rejected("N04", "a surrogate", "encoding") { try $0.signed(inProductId: [0xED, 0xA0, 0x80]) },
            .rejected("N05", "half a surrogate pair", "json") { try $0.signed(["productId": #""\ud800""#]) },
            .rejected("N06", "U+0000 in productId", "nul") { try $0.signed(["productId": #""a\u0000b""#]) },
        ]
        + ["NaN", "01", "+1", ".5", "1.", "'9'"].map { (price: String) in
            .rejected("N07", "price \(price)", "json") { try $0.signed(["price": price]) }
        }
        + [",", "/*x*/,", "// x"].map { end in
            .rejected("N07", "\(end) before the end", "json") { try $0.signed(appending: end) }
        }
        + [
            .rejected("N08", "two documents", "json") { try $0.signed(bytes: Array(($0.payload() + "{}").utf8)) },
            .rejected("N08", "something after the end", "json") {
                try $0.signed(bytes: Array(($0.payload() + " x").utf8))
            },
            .rejected("N08", "nothing", "format") { try $0.signed(bytes: []) },
            .rejected("N08", "only spaces", "json") { try $0.signed(bytes: [0x20, 0x20, 0x20]) },
        ]
        + ["[]", #""text""#, "7", "null"].map { document in
            .rejected("N09", document, "json") { try $0.signed(bytes: Array(document.utf8)) }
        }
        + [(33, "json_depth"), (512, "json_depth"), (513, "json_depth"), (100_000, "size")].map { depth, reason in
            .rejected("N18", "\(depth) levels", reason) { scene in
                try scene.signed([
                    "deep": String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
                ])
            }
        }
        + [
            .rejected("N19", "10,000 keys, more than 64 KiB", "size") { scene in
                try scene.signed(appending: (0..<10_000).map { ",\"key\($0)\":0" }.joined())
            },
            .rejected("N20", "one string of 100 KiB", "size") { scene in
                try scene.signed(["productId": "\"" + String(repeating: "x", count: 100 * 1_024) + "\""])
            },
            .rejected("N21", "a number of 40,000 digits", "json") { scene in
                try scene.signed(["price": String(repeating: "9", count: 40_000)])
            },
        ]

    /// Properly signed, with one field that is not as documented: the row is loaded without it.
    static let fields: [BadRecord] =
        [
            .loaded("N10", "the largest price", row: "price_milliunits = 1000000000000") {
                try $0.signed(["price": "1000000000000"])
            },
            .loaded("N10", "price -1", row: "price_milliunits = -1") { try $0.signed(["price": "-1"]) },
        ]
        + ["1000000000001", "9223372036854775807", "9223372036854775808", "9990.5", #""9990""#, "true"].map {
            (price: String) in
            .loaded("N10", "price \(price)", issues: ["price"], row: "price_milliunits IS NULL AND payload ? 'price'") {
                try $0.signed(["price": price])
            }
        }
        + [
            .loaded(
                "N11",
                "price 1e3",
                issues: ["price"],
                row: "price_milliunits IS NULL AND payload -> 'price' = '1e3'"
            ) {
                try $0.signed(["price": "1e3"])
            },
            .loaded("N11", "price 1E400", issues: ["price"], row: #"payload -> 'price' = '"1E400"'"#) {
                try $0.signed(["price": "1E400"])
            },
            .loaded("N11", "price 1e131071", issues: ["price"], row: #"payload -> 'price' = '"1e131071"'"#) {
                try $0.signed(["price": "1e131071"])
            },
            .loaded("N12", "a date in text", issues: ["expiresDate"], row: "expires_date IS NULL") {
                try $0.signed(["expiresDate": #""2024-01-01""#])
            },
            .loaded("N12", "the year 2286", issues: ["expiresDate"], row: "expires_date IS NULL") {
                try $0.signed(["expiresDate": "1e13"])
            },
            .loaded("N12", "the year 1", row: "expires_date = '0001-12-30T00:00:00Z BC'") {
                try $0.signed(["expiresDate": "-62135769600000"])
            },
            .loaded("N13", "an unknown type", row: "type = 'Brand New'") { try $0.signed(["type": #""Brand New""#]) },
            .loaded("N13", "an unknown offerType", row: "offer_type = 99") { try $0.signed(["offerType": "99"]) },
            .loaded("N14", "offerType in text", issues: ["offerType"], row: #"payload -> 'offerType' = '"1"'"#) {
                try $0.signed(["offerType": #""1""#])
            },
            .loaded("N14", "type as a number", issues: ["type"], row: "type IS NULL AND payload -> 'type' = '1'") {
                try $0.signed(["type": "1"])
            },
            .loaded(
                "N15",
                "an unknown field",
                row: "payload -> 'brandNew' = '[1]' AND EXISTS (SELECT FROM schema_drift WHERE path = 'brandNew')"
            ) { try $0.signed(["brandNew": "[1]"]) },
            .loaded(
                "N16",
                "an upper-case appAccountToken",
                row: "app_account_token::text = 'aaaaaaaa-bbbb-4ccc-8ddd-0123456789ef'"
            ) { try $0.signed(["appAccountToken": #""AAAAAAAA-BBBB-4CCC-8DDD-0123456789EF""#]) },
        ]
        + [#""nobody""#, #""""#].map { (token: String) in
            .loaded("N16", "appAccountToken \(token)", issues: ["appAccountToken"], row: "app_account_token IS NULL") {
                try $0.signed(["appAccountToken": token])
            }
        }
        + [#""usd""#, #""EURO""#, #""""#].map { (currency: String) in
            .loaded("N17", "currency \(currency)", issues: ["currency"], row: "currency IS NULL") {
                try $0.signed(["currency": currency])
            }
        }
        + [
            .loaded("N17", "storefront USAX", issues: ["storefront"], row: "storefront IS NULL") {
                try $0.signed(["storefront": #""USAX""#])
            }
        ]

    /// Elements of a page that are no records, and records that come twice.
    static let pages: [BadRecord] =
        ["null", #""""#, "5"].map { element in
            .elements("N28", element, reason: "unreadable") { _ in [element] }
        }
        + [
            .elements("N31", "one transaction twice", loaded: 1, row: "price_milliunits = 2") { scene in
                let newer = "\(scene.now.rawValue - 59_999)"
                return [
                    quoted(try scene.signed(["price": "1"])),
                    quoted(try scene.signed(["price": "2", "signedDate": newer])),
                ]
            },
            .elements("N31", "one transaction twice, the newer first", loaded: 1, row: "price_milliunits = 2") {
                scene in
                let newer = "\(scene.now.rawValue - 59_999)"
                return [
                    quoted(try scene.signed(["price": "2", "signedDate": newer])),
                    quoted(try scene.signed(["price": "1"])),
                ]
            },
        ]
}

extension RecordScene {
    /// The second transaction with something before its last brace.
    func signed(appending text: String) throws -> String {
        try signed(bytes: Array((payload().dropLast() + text + "}").utf8))
    }

    /// The second transaction with these bytes as its productId.
    func signed(inProductId bytes: [UInt8]) throws -> String {
        let parts = payload(["productId": #""@""#]).split(separator: "@")
        return try signed(bytes: Array(parts[0].utf8) + bytes + Array(parts[1].utf8))
    }
}
