import Ledger
import Postgres
import TestSupport

/// What a test of a view stands on: rows written as a table, so that each can be followed by hand.
extension TestLedger {
    /// Files transactions, one a line: `transaction | subscription | product | from | to | price | column=value, …`.
    ///
    /// `from` is the purchaseDate and `to` the expiresDate: a day (its midnight, UTC), a moment such as `2025-01-31 23:59`,
    /// or a distance such as `now -3 days`; `-` stands for NULL, and a consumable has no `to`. Bought in the USA in USD, and
    /// signed on the day of the purchase, unless the last column says otherwise. What follows `#` is for the reader.
    func buy(_ lines: String, app: Int = 1) async throws {
        for line in table(lines) {
            let original = line[1] == "-" ? line[0] : line[1]
            var columns = [
                "app_id": "\(app)", "transaction_id": literal(line[0]), "original_transaction_id": literal(original),
                "product_id": literal(line[2]), "purchase_date": moment(line[3]), "expires_date": moment(line[4]),
                "price_milliunits": line[5] == "-" ? "NULL" : line[5], "currency": "'USD'", "storefront": "'USA'",
                "quantity": "1", "in_app_ownership_type": "'PURCHASED'", "transaction_reason": "'PURCHASE'",
                "type": line[4] == "-" ? "'Consumable'" : "'Auto-Renewable Subscription'",
                "signed_date": moment(line[3]),
                "original_purchase_date": moment(line[3]), "payload_sha256": "''", "payload": "'{}'",
            ]
            columns.merge(more(line[6])) { $1 }
            try await insert(columns, into: "transactions")
        }
    }

    /// Files renewal info, one a line: `subscription | signed | column=value, …`.
    func renewal(_ lines: String) async throws {
        for line in table(lines) {
            let columns = [
                "app_id": "1", "original_transaction_id": literal(line[0]), "signed_date": moment(line[1]),
                "payload_sha256": "''", "payload": "'{}'",
            ]
            try await insert(columns.merging(more(line[2])) { $1 }, into: "renewals")
        }
    }

    /// Files notifications, one a line: `uuid | type | subtype | signed | transaction | column=value, …`.
    func notify(_ lines: String) async throws {
        for line in table(lines) {
            let columns = [
                "app_id": "1", "notification_uuid": literal(line[0]), "notification_type": literal(line[1]),
                "subtype": line[2] == "-" ? "NULL" : literal(line[2]), "signed_date": moment(line[3]),
                "transaction_id": literal(line[4]), "payload_sha256": "''", "payload": "'{}'",
            ]
            try await insert(columns.merging(more(line[5])) { $1 }, into: "notifications")
        }
    }

    /// Brings the materialised views up to date and returns each row of a query, its columns with spaces between.
    func answer(_ query: String) async throws -> [String] {
        _ = try await ledger.refreshViews()
        return try await rows(query).map { row in
            row.dropFirst().dropLast().split(separator: ",", omittingEmptySubsequences: false)
                .map { $0.isEmpty ? "-" : $0.filter { $0 != "\"" } }.joined(separator: " ")
        }
    }

    private func insert(_ columns: [String: String], into name: String) async throws {
        let order = columns.keys.sorted()
        try await run(
            "INSERT INTO \(name) (\(order.joined(separator: ", "))) VALUES (\(order.map { columns[$0] ?? "" }.joined(separator: ", ")))"
        )
    }

    private func table(_ lines: String) -> [[String]] {
        lines.split(separator: "\n").map { $0.prefix { $0 != "#" } }.filter { $0.contains("|") }.map {
            $0.split(separator: "|", omittingEmptySubsequences: false).map(trimmed)
        }
    }

    private func more(_ text: String) -> [String: String] {
        var columns: [String: String] = [:]
        for part in text.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map(trimmed)
            let isMoment = pair[0].hasSuffix("date") || pair[1].hasPrefix("now")
            columns[pair[0]] = pair[1] == "-" ? "NULL" : isMoment ? moment(pair[1]) : literal(pair[1])
        }
        return columns
    }

    private func moment(_ text: String) -> String {
        if text == "-" { return "NULL" }
        if text.hasPrefix("now") { return "now() + interval '\(text.dropFirst(3))'" }
        return "timestamptz '\(text) UTC'"
    }

    private func literal(_ text: String) -> String { "'\(text)'" }

    private func trimmed(_ text: Substring) -> String {
        let body = text.drop { $0 == " " }
        return String(body.reversed().drop { $0 == " " }.reversed())
    }
}
