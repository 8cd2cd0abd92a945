import AppStoreModel
import LedgerSchema
import Postgres
import Testing

/// One field with one value, and the value that its column then has.
struct FieldIssueTests {
    /// Loads a transaction whose `field` is `value`; the row is loaded even if the field is not.
    private static func load(_ field: String, _ value: String) throws -> (snapshot: Snapshot, rows: PageRows) {
        let world = try RecordWorld()
        let rows = try world.normalize(transactions: world.transaction([field: value]))
        #expect(rows.rejected.isEmpty)
        return (try #require(rows.snapshots.first), rows)
    }

    @Test(arguments: [
        ("1000000000000", Cell.bigint(1_000_000_000_000)), ("1000000000001", .null), ("-1000000000001", .null),
        ("9223372036854775807", .null), ("9223372036854775808", .null), ("-1", .bigint(-1)),
        ("9990.5", .null), (#""9990""#, .null), ("true", .null), ("1e3", .null), ("[1]", .null),
    ])
    func `N10 N11 a price is exact or it is an issue`(_ value: String, _ expected: Cell) throws {
        let (snapshot, rows) = try Self.load("price", value)
        #expect(snapshot.cell("price_milliunits") == expected)
        #expect(rows.issues.map(\.path) == (expected == .null ? ["price"] : []))
        #expect(snapshot.cell("product_id") == .text("pro.monthly"))
    }

    @Test(arguments: [
        ("quantity", "quantity", "1000000", "1000001"), ("quantity", "quantity", "-1000000", "-1000001"),
        ("revocationPercentage", "revocation_percentage_milliunits", "100000", "100001"),
    ])
    func `N10 a count or a percentage that no total can have is an issue`(
        _ field: String,
        _ column: String,
        _ largest: String,
        _ beyond: String
    ) throws {
        let (snapshot, rows) = try Self.load(field, largest)
        #expect(snapshot.cell(column) == Int32(largest).map(Cell.integer) && rows.issues.isEmpty)
        let (other, refused) = try Self.load(field, beyond)
        #expect(other.cell(column) == .null && refused.issues.map(\.path) == [field])
    }

    /// What the totals add up and multiply; a new field of money, of a count or of a percentage is bounded by its type.
    @Test func `N10 no field is a plain number that can be an amount or a count`() {
        let plain = [
            ObjectShape.transaction, .renewalInfo, .notification, .appTransaction, .sendAttempt,
        ].flatMap { Self.plainNumbers(of: $0) }
        #expect(
            Set(plain) == ["appAppleId", "versionExternalIdentifier", "succeededCount", "failedCount"],
            "\(plain)"
        )
    }

    /// The fields of a shape that are numbers without a bound, including fields of its objects, lists and signed
    /// payloads.
    private static func plainNumbers(of shape: ObjectShape) -> [String] {
        shape.fields.flatMap { field -> [String] in
            switch field.type {
            case .integer32, .integer64: [field.key]
            case .object(let inner), .objectArray(let inner), .signed(let inner): plainNumbers(of: inner)
            default: []
            }
        }
    }

    @Test(arguments: ["1E400", "1e131071", String(repeating: "9", count: 60)])
    func `N11 a number the database would expand reaches the payload as text`(_ value: String) throws {
        let (snapshot, rows) = try Self.load("price", value)
        guard case .jsonb(let bytes)? = snapshot.cell("payload") else {
            Issue.record("no payload")
            return
        }
        #expect(String(decoding: bytes, as: UTF8.self).contains("\"price\":\"\(value)\""))
        #expect(rows.issues.count == 1)
    }

    @Test(arguments: [
        (#""2024-01-01""#, Cell.null), ("1e13", .null), ("10000000000000", .null),
        ("-62135769600000", .timestamp(-62_135_769_600_000)), ("-62135769600001", .null),
        ("9999999999999", .timestamp(9_999_999_999_999)), ("0", .timestamp(0)),
    ])
    func `N12 a date is a plausible moment or it is an issue`(_ value: String, _ expected: Cell) throws {
        let (snapshot, rows) = try Self.load("expiresDate", value)
        #expect(snapshot.cell("expires_date") == expected)
        #expect(rows.issues.map(\.path) == (expected == .null ? ["expiresDate"] : []))
    }

    @Test(arguments: [("expiresDate", "expires_date"), ("signedDate", "signed_date")])
    func `J37 a fractional date is floored, and an issue`(_ field: String, _ column: String) throws {
        let (snapshot, rows) = try Self.load(field, "1779999999049.7297")
        #expect(snapshot.cell(column) == .timestamp(1_779_999_999_049))
        #expect(rows.issues.map(\.path) == [field])
        #expect(rows.issues.first?.signedDate == snapshot.signedDate)
    }

    @Test(arguments: [
        ("type", #""Brand New""#, "type", Cell.text("Brand New"), "type=Brand New"),
        ("offerType", "99", "offer_type", .integer(99), "offerType=99"),
        ("offerType", "-1", "offer_type", .integer(-1), "offerType=-1"),
    ])
    func `N13 an unknown value of a known field is kept and counted`(
        _ field: String,
        _ value: String,
        _ column: String,
        _ cell: Cell,
        _ path: String
    ) throws {
        let (snapshot, rows) = try Self.load(field, value)
        #expect(snapshot.cell(column) == cell)
        #expect(rows.drift == [SchemaDrift(kind: .transaction, path: path, sample: value)])
        #expect(rows.issues.isEmpty)
    }

    @Test(arguments: [
        ("offerType", #""1""#, "offer_type"), ("type", "1", "type"), ("offerType", "2147483648", "offer_type"),
        ("quantity", "2147483648", "quantity"), ("quantity", "1.0", "quantity"), ("isUpgraded", "1", "is_upgraded"),
        ("productId", "7", "product_id"), ("productId", "\"\(String(repeating: "x", count: 2_049))\"", "product_id"),
        ("storefrontId", "143441", "storefront_id"),
    ])
    func `N14 a value of another type is NULL, and kept in the payload`(
        _ field: String,
        _ value: String,
        _ column: String
    ) throws {
        let (snapshot, rows) = try Self.load(field, value)
        #expect(snapshot.cell(column) == .null)
        #expect(rows.issues.map(\.path) == [field])
        #expect(rows.issues.map(\.kind) == [.transaction])
        #expect(rows.issues.map(\.recordKey) == ["2000000000000001"])
        guard case .jsonb(let bytes)? = snapshot.cell("payload") else {
            Issue.record("no payload")
            return
        }
        #expect(String(decoding: bytes, as: UTF8.self).contains("\"\(field)\":\(value)"))
    }

    @Test
    func `N15 an unknown field stays in the payload and is counted, at any depth`() throws {
        let world = try RecordWorld()
        let payload = world.transaction([
            "brandNew": #"{"a":[1,2]}"#, "commitmentInfo": #"{"extra":"x"}"#,
            "advancedCommerceInfo":
                #"{"items":[{"SKU":"a","odd":1},{"odd":2,"refunds":[{"odd":3}]}],"descriptors":{"odd":4}}"#,
        ])
        let rows = try world.normalize(transactions: payload)
        #expect(
            rows.drift.map(\.path) == [
                "brandNew", "commitmentInfo.extra", "advancedCommerceInfo.items[].odd",
                "advancedCommerceInfo.items[].odd", "advancedCommerceInfo.items[].refunds[].odd",
                "advancedCommerceInfo.descriptors.odd",
            ]
        )
        #expect(rows.drift.first?.sample == #"{"a":[1,2]}"#)
        #expect(rows.snapshots.first?.cell("payload") == .jsonb(Array(payload.utf8)))
        #expect(rows.issues.isEmpty)
    }

    @Test
    func `N15 a sample is short and shows no UUID`() throws {
        let token = "AAAAAAAA-bbbb-4ccc-8ddd-0123456789EF"
        let world = try RecordWorld()
        let rows = try world.normalize(
            transactions: world.transaction([
                "newToken": #"{"token":"\#(token)"}"#, "type": "\"\(token)\"", "x-\(token)": "1",
                "long": "\"\(String(repeating: "é", count: 5_000))\"", "price": "\"\(token)\"",
            ])
        )
        #expect(rows.drift.count == 4)
        #expect(rows.drift.first?.sample == #"{"token":"<uuid>"}"#)
        #expect(rows.drift.map(\.path).contains("type=<uuid>"))
        for text in rows.drift.flatMap({ [$0.path, $0.sample] }) + rows.issues.map(\.found) {
            #expect(text.unicodeScalars.count <= 200)
            #expect(!text.contains(token))
        }
    }

    @Test(arguments: [
        #""""#, #""not-a-uuid""#, #""AAAAAAAA-bbbb-4ccc-8ddd-0123456789EG""#,
        #""{AAAAAAAA-bbbb-4ccc-8ddd-0123456789E}""#,
        #""AAAAAAAAbbbb4ccc8ddd0123456789EF""#, "5",
    ])
    func `N16 an appAccountToken that is no UUID is NULL, and not quoted`(_ value: String) throws {
        let (snapshot, rows) = try Self.load("appAccountToken", value)
        #expect(snapshot.cell("app_account_token") == .null)
        #expect(rows.issues.map(\.path) == ["appAccountToken"])
        #expect(rows.issues.first?.found.contains("not-a-uuid") == false)
    }

    @Test
    func `N16 an upper-case appAccountToken is the same as a lower-case one`() throws {
        let upper = try Self.load("appAccountToken", #""AAAAAAAA-BBBB-4CCC-8DDD-0123456789EF""#)
        let lower = try Self.load("appAccountToken", #""aaaaaaaa-bbbb-4ccc-8ddd-0123456789ef""#)
        #expect(upper.snapshot.cell("app_account_token") == lower.snapshot.cell("app_account_token"))
        #expect(upper.rows.issues.isEmpty)
    }

    @Test(arguments: [
        ("currency", #""usd""#), ("currency", #""EURO""#), ("currency", #""""#), ("currency", #""US\u0301""#),
        ("storefront", #""USAX""#), ("storefront", #""us""#), ("storefront", "143441"),
    ])
    func `N17 a currency and a storefront are three upper-case letters`(_ field: String, _ value: String) throws {
        let (snapshot, rows) = try Self.load(field, value)
        #expect(snapshot.cell(field) == .null)
        #expect(rows.issues.map(\.path) == [field])
    }

    @Test
    func `null is an absent field, not an issue`() throws {
        let (snapshot, rows) = try Self.load("price", "null")
        #expect(snapshot.cell("price_milliunits") == .null)
        #expect(rows.remarks == [])
    }

    @Test(arguments: [("commitmentInfo", "5"), ("advancedCommerceInfo", "[]")])
    func `an object that is none costs its columns only`(_ field: String, _ value: String) throws {
        let (snapshot, rows) = try Self.load(field, value)
        #expect(snapshot.cell("product_id") == .text("pro.monthly"))
        #expect(rows.issues.map(\.path) == [field])
    }
}
