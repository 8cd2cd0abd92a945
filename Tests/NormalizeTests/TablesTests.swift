import AppStoreModel
import FoundationEssentials
import LedgerSchema
import Postgres
import Testing

@testable import Normalize

struct TablesTests {
    private static let directory = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "sql")

    /// All files of a folder in their order.
    ///
    /// An unreadable file is an empty one, in which the tests find nothing.
    private static func texts(of folder: String) -> String {
        let folder = directory.appending(path: folder)
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
        return names.filter { $0.hasSuffix(".sql") }.sorted()
            .map { (try? String(contentsOf: folder.appending(path: $0), encoding: .utf8)) ?? "" }
            .joined(separator: "\n")
    }

    private static let migrations = texts(of: "migrations")
    private static let comments = texts(of: "comments")

    /// The lines between `CREATE TABLE name (` and `);`, and the columns that later migrations add, written in the same way.
    private static func definition(of table: String) -> [Substring] {
        let lines = migrations.split(separator: "\n")
        let made = lines.drop { $0 != "CREATE TABLE \(table) (" }.dropFirst().prefix { !$0.hasPrefix(")") }
            .map { Substring($0.split(separator: " ").joined(separator: " ")) }
        return made + added(to: table)
    }

    private static func added(to table: String) -> [Substring] {
        let statements = migrations.split(separator: "\n").filter { !$0.hasPrefix("--") }.joined(separator: " ")
            .split(separator: ";")
        let changes = statements.map { $0.drop { $0 == " " } }.filter { $0.hasPrefix("ALTER TABLE \(table) ") }
        return changes.flatMap { change in
            change.split(separator: "ADD COLUMN ").dropFirst().map { column in
                let words = column.split { $0 == " " || $0 == "," }
                return Substring("\(words.prefix(2).joined(separator: " ")),")
            }
        }
    }

    /// Columns that contain an object's scalars in one row, objects inside included.
    private static func columns(of map: ColumnMap) -> Set<Column> {
        Set(
            map.entries.flatMap { entry -> [Column] in
                switch (entry.field.type, entry.field.type.columnType) {
                case (.object, _): entry.nested.map { Array(columns(of: $0)) } ?? []
                case (_, let type?): [Column(entry.column, type)]
                default: []
                }
            }
        )
    }

    private static let snapshot: Set<Column> = [
        Column("signed_date", .timestamptz), Column("payload_sha256", .bytea), Column("payload", .jsonb),
    ]

    @Test(arguments: Tables.all)
    func `every column is in the migration with its type, and so is the key`(_ table: Table) {
        let lines = Self.definition(of: table.name)
        #expect(lines.first == "app_id integer NOT NULL,")
        for column in table.columns {
            let isThere = lines.contains { line in
                line.hasPrefix("\(column.name) \(column.type.rawValue) ")
                    || line == "\(column.name) \(column.type.rawValue),"
            }
            #expect(isThere, "\(table.name).\(column.name) \(column.type.rawValue)")
        }
        let key = "PRIMARY KEY (\((["app_id"] + table.key).joined(separator: ", ")))"
        #expect(lines.contains { $0 == key || $0 == key + "," }, "\(key)")
    }

    @Test(arguments: Tables.all)
    func `the columns that a later migration than the table's has added are named as such`(_ table: Table) {
        let later = Self.added(to: table.name).compactMap { $0.split(separator: " ").first.map(String.init) }
        #expect(Set(later).intersection(table.columns.map(\.name)).isSubset(of: table.addedColumns))
    }

    @Test(arguments: Tables.all)
    func `every column of the migration has a comment of one sentence`(_ table: Table) {
        let names = Self.definition(of: table.name).compactMap { $0.split(separator: " ").first }
            .filter { !["PRIMARY", "UNIQUE", "FOREIGN", "CHECK", "CONSTRAINT"].contains($0) }
        #expect(names.count > table.columns.count)
        for name in names {
            #expect(
                Self.comments.contains("COMMENT ON COLUMN \(table.name).\(name) IS\n    '")
                    || Self.comments.contains("COMMENT ON COLUMN \(table.name).\(name) IS '"),
                "\(table.name).\(name)"
            )
        }
        #expect(
            Self.comments.contains("COMMENT ON TABLE \(table.name) IS '")
                || Self.comments.contains("COMMENT ON TABLE \(table.name) IS\n    '")
        )
    }

    @Test
    func `migrations, functions and comments name no schema`() {
        for folder in ["migrations", "functions", "comments"] {
            let text = Self.texts(of: folder)
            #expect(!text.isEmpty && !text.contains("appstore.") && !text.contains("CREATE SCHEMA"))
        }
    }

    @Test(arguments: [
        (ColumnMap.transaction, Tables.transactions), (.renewalInfo, Tables.renewals),
        (.appTransaction, Tables.appTransactions),
    ])
    func `every field of a purchase has its column, and every column its field`(_ map: ColumnMap, _ table: Table) {
        #expect(Self.columns(of: map).union(Self.snapshot) == Set(table.columns))
    }

    @Test
    func `every field of a notification has its column, and every column its field`() {
        // An app transaction's columns have a prefix in the row of its notification, except those that both have.
        let shared = ["app_transaction_id", "bundle_id", "app_apple_id"]
        let nested = Self.columns(of: .appTransaction).map { column in
            shared.contains(column.name) ? column : Column("app_transaction_" + column.name, column.type)
        }
        let own = Self.columns(of: .notification).union(nested).union(Self.snapshot)
        let purchase = Set(Tables.notifications.columns).subtracting(own)
        #expect(own.isSubset(of: Tables.notifications.columns))
        #expect(purchase.isSubset(of: Tables.transactions.columns))
        #expect(Set(purchase.map(\.name)).union(["app_transaction_id"]) == Set(NestedRecords.purchaseColumns))
    }

    @Test
    func `a refund has columns of its transaction`() {
        #expect(Set(Tables.refunds.columns).isSubset(of: Tables.transactions.columns))
    }

    @Test
    func `every field of a line item and of its refunds has its column`() {
        let owner: Set<Column> = [
            Column("owner_kind", .text), Column("owner_key", .text), Column("position", .integer),
            Column("currency", .text),
        ]
        let items = Self.columns(of: ColumnMap(.advancedCommerceTransactionItem))
            .union(Self.columns(of: ColumnMap(.advancedCommerceRenewalItem)))
        #expect(items.union(owner) == Set(Tables.advancedCommerceItems.columns))
        let refunds = Self.columns(of: ColumnMap(.advancedCommerceRefund))
        #expect(
            refunds.union(owner).union([Column("item_position", .integer)])
                == Set(Tables.advancedCommerceRefunds.columns)
        )
    }

    @Test
    func `every field of a send attempt has its column`() {
        #expect(
            Self.columns(of: .sendAttempt).union([Column("notification_uuid", .text)])
                == Set(Tables.notificationSendAttempts.columns)
        )
    }

    /// Lists are named by their key when they are read.
    @Test
    func `the only lists of objects are line items, their refunds, and prices of seats`() {
        func lists(_ map: ColumnMap) -> [String] {
            map.entries.flatMap { entry in
                guard let nested = entry.nested else { return [String]() }
                if case .objectArray = entry.field.type { return [entry.field.key] + lists(nested) }
                return lists(nested)
            }
        }
        #expect(lists(.transaction) == ["priceTiers", "items", "refunds"])
        #expect(lists(.renewalInfo) == ["renewalPriceTiers", "items"])
        #expect(lists(.notification) + lists(.appTransaction) + lists(.sendAttempt) == [])
    }
}
