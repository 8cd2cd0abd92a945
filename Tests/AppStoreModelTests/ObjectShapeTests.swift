import AppStoreModel
import FoundationEssentials
import Testing

struct ObjectShapeTests {
    private static let shapes: [ObjectShape] = [
        .transaction, .transactionCommitment, .renewalInfo, .renewalCommitment, .appTransaction, .notification,
        .notificationData, .notificationSummary, .externalPurchaseToken, .notificationAppData, .sendAttempt,
        .advancedCommerceTransaction, .advancedCommerceTransactionItem, .advancedCommerceRefund,
        .advancedCommerceRenewal, .advancedCommerceRenewalItem, .advancedCommercePriceIncrease, .advancedCommerceOffer,
        .advancedCommerceDescriptors,
    ]

    /// Fields the reference names in prose, outside its tables.
    private static let namedInProse: Set<String> = [
        "previousOriginalTransactionId", "tokenExpirationDate", "tokenType",
    ]

    /// Fields of versions of Apple's that are newer than the reference: 1.22 and 1.23 of the server API.
    private static let newerThanReference: Set<String> = [
        "additionalTransactionReason", "multiSeatInfo", "renewalQuantity", "storeType", "unclaimInfo",
    ]

    private static let reference: String? = {
        let root = URL(filePath: #filePath).resolvingSymlinksInPath()
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        // Without the reference there is nothing to compare with; the test is skipped then.
        return try? String(
            contentsOf: root.appending(path: "shared/reference/app-store-server-api.md"),
            encoding: .utf8
        )
    }()

    /// First and second cells of the table under the heading of `shape`.
    private static func documented(_ shape: ObjectShape, in reference: String) -> [(key: String, type: String)] {
        let lines = reference.split(separator: "\n", omittingEmptySubsequences: false)
        let heading = lines.firstIndex { line in
            line.hasPrefix("#### `\(shape.name)`")
                || (line.hasPrefix("#### ") && line.hasSuffix("class name `\(shape.name)`)"))
        }
        guard let heading else { return [] }
        return lines[(heading + 1)...].drop { $0.isEmpty }.prefix { $0.hasPrefix("|") }.dropFirst(2).map { line in
            let cells = line.split(separator: "|").map { $0.trimmingPrefix(" ") }
            return (String(cells[0].prefix { $0 != " " }), String(cells[1]))
        }
    }

    private static func fits(_ type: FieldType, _ documented: String) -> Bool {
        let word = documented.split(separator: " ").prefix { !$0.hasPrefix("(") }.joined(separator: " ")
        return switch type {
        case .text, .currency, .storefront, .signed: word == "string"
        case .openText: word == "enum string"
        case .openInteger: word == "enum int32"
        case .integer32, .count, .percentage: word == "int32"
        case .integer64, .money: word == "int64"
        // The creation date of an external purchase token is a moment although the table says only int64.
        case .moment: word == "int64 ms epoch" || word == "int64"
        case .boolean: word == "boolean"
        case .uuid: documented.hasPrefix("string (UUID)")
        case .textArray: word == "array of string"
        case .object(let shape):
            word == "object \(shape.name)" || (shape.name == "Data" && word == "object NotificationData")
        case .objectArray(let shape): word == "array of object \(shape.name)"
        }
    }

    @Test(.enabled(if: reference != nil, "the reference of Apple's fields is not beside the checkout"))
    func `every field of Apple's is in its shape with its type, and no other`() throws {
        let reference = try #require(Self.reference)
        for shape in Self.shapes {
            let documented = Self.documented(shape, in: reference)
            #expect(!documented.isEmpty, "\(shape.name) has no table")
            for (key, type) in documented {
                let field = try #require(shape[key], "\(shape.name).\(key)")
                #expect(Self.fits(field.type, type), "\(shape.name).\(key) is \(type)")
            }
            let extra = Set(shape.fields.map(\.key)).subtracting(documented.map(\.key))
            #expect(
                extra.isSubset(of: Self.namedInProse.union(Self.newerThanReference)),
                "\(shape.name): \(extra)"
            )
        }
    }

    @Test
    func `a key that is only canonically equal is not the field`() {
        #expect(ObjectShape.advancedCommerceTransactionItem["SKU"] != nil)
        #expect(ObjectShape.advancedCommerceTransactionItem["S\u{212A}U"] == nil)
    }
}
