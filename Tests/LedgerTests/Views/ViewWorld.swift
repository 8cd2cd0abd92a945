import AppStoreModel
import Ledger
import LedgerSchema
import Postgres
import Streams
import TestSupport
import Testing

/// What a test of a view needs: rows written as a table, so that each can be followed by hand.
extension TestLedger {
    /// Files transactions, one a line: `transaction | subscription | product | from | to | price | column=value, …`.
    ///
    /// `from` is the purchaseDate and `to` the expiresDate: a day (its midnight, UTC), a moment such as `2025-01-31 23:59`,
    /// or a distance such as `now -3 days`; `-` stands for NULL, and a consumable has no `to`. Bought in the USA in USD, and
    /// signed on the day of the purchase, unless the last column says otherwise. What follows `#` is for the reader.
    /// `payloads` has Apple's payload of a transaction, as JSON, where it matters.
    func buy(_ lines: String, app: Int = 1, payloads: [String: String] = [:]) async throws {
        for line in table(lines) {
            let original = line[1] == "-" ? line[0] : line[1]
            var columns = [
                "app_id": "\(app)", "transaction_id": literal(line[0]), "original_transaction_id": literal(original),
                "product_id": literal(line[2]), "purchase_date": moment(line[3]), "expires_date": moment(line[4]),
                "price_milliunits": line[5] == "-" ? "NULL" : line[5], "currency": "'USD'", "storefront": "'USA'",
                "quantity": "1", "in_app_ownership_type": "'PURCHASED'", "transaction_reason": "'PURCHASE'",
                "type": line[4] == "-" ? "'Consumable'" : "'Auto-Renewable Subscription'",
                "signed_date": moment(line[3]),
                "original_purchase_date": moment(line[3]), "payload_sha256": "''",
                "payload": literal(payloads[line[0]] ?? "{}"),
            ]
            columns.merge(more(line[6])) { $1 }
            try await insert(columns, into: "transactions")
        }
    }

    /// Files renewal info, one a line: `subscription | signed | column=value, …`.
    func renewal(_ lines: String, payloads: [String: String] = [:]) async throws {
        for line in table(lines) {
            let columns = [
                "app_id": "1", "original_transaction_id": literal(line[0]), "signed_date": moment(line[1]),
                "payload_sha256": "''", "payload": literal(payloads[line[0]] ?? "{}"),
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

    /// Commits answers of Get All Subscription Statuses, each in a separate run: `subscription | status | transaction |
    /// asked`.
    ///
    /// `asked` is when Apple answered.
    func reportStatuses(_ lines: String) async throws {
        for line in table(lines) {
            try await reportStatus(
                try #require(Int32(line[1])),
                of: line[0],
                transaction: line[2],
                asked: line[3],
                recordsSigned: line.count > 4 ? line[4] : line[3]
            )
        }
    }

    /// Commits one answer of Get All Subscription Statuses as the only page of a run, and finishes the run.
    ///
    /// - Parameters:
    ///   - status: Apple's status.
    ///   - subscription: The original transaction ID.
    ///   - transaction: The transaction of the answer.
    ///   - asked: When Apple answered, as in ``buy(_:app:)``.
    ///   - recordsSigned: When Apple signed the answer's records; when it answered if `nil`.
    ///   - signed: The answer's signed records; none if the ledger has them already.
    /// - Returns: The changes of the page.
    /// - Throws: ``Postgres/PostgresError``; an expectation that failed.
    @discardableResult
    func reportStatus(
        _ status: Int32,
        of subscription: String,
        transaction: String,
        asked: String,
        recordsSigned: String? = nil,
        signed: [Snapshot] = []
    ) async throws -> RowCounts? {
        var rows = PageRows()
        rows.snapshots = signed
        let row: Row = [
            .text(subscription), .text("20001"), .integer(status), .text(transaction),
            .timestamp(try await instant(recordsSigned ?? asked).rawValue), .null,
        ]
        rows.answers = [Answer(.subscriptionStatus, row: row)]
        let streams = "subscriptionStatuses: {}"
        let (items, holder) = try await leased([subscription], streams: streams, of: .subscriptionStatuses)
        let commit = page(
            rows,
            of: items[0],
            for: holder,
            cursor: nil,
            isLast: true,
            completeUntil: Jobs.now,
            readAt: try await instant(asked)
        )
        let counts = try await ledger.commit(commit)
        _ = try await ledger.conclude(holder.run, app: app, job: holder.job, exitCode: 0, message: nil)
        return counts
    }

    /// A moment as in ``buy(_:app:)``, by the database's clock.
    func instant(_ text: String) async throws -> UnixMilliseconds {
        let milliseconds = try await value("floor(extract(epoch FROM \(moment(text))) * 1000)::bigint")
        return UnixMilliseconds(rawValue: try #require(milliseconds.flatMap { Int64($0) }))
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
