import AppStoreModel
import LedgerSchema
import Postgres

/// Groups of customers: rows of several answers, of which each replaces those that it no longer has.
extension RecordWriter {
    /// The rows with the app transaction of the listed customer in `customer_groups`, as far as the ledger knows it.
    ///
    /// Call it before tombstones are compared, so that they are compared with that ID too.
    func withAppTransactions(
        _ rows: PageRows,
        on connection: borrowing PostgresConnection
    ) throws(PostgresError) -> PageRows {
        guard rows.answers.contains(where: { $0.kind == .customerGroup }) else { return rows }
        guard let id = try appTransactionOfListed(on: connection) else { return rows }
        var rows = rows
        rows.answers = rows.answers.map { answer in
            answer.kind == .customerGroup ? answer.with(.text(id), in: "app_transaction_id") : answer
        }
        return rows
    }

    /// Removes the groups that the listed customer has left, or the members that have left the group.
    ///
    /// An answer with a rejected record removes nothing, because the record may be the missing one.
    ///
    /// - Returns: The number of removed rows.
    func removeLeft(_ rows: PageRows, on connection: borrowing PostgresConnection) throws(PostgresError) -> Int {
        guard let whole = origin.wholeAnswer, let readAt = origin.readAt, rows.rejected.isEmpty else { return 0 }
        switch whole {
        case .groupsOfCustomer:
            guard let listed = origin.listedTransactionID else { return 0 }
            // The ID with which the rows were written: another page can commit a different one in between, and with that the
            // removal would delete the new rows.
            let written = rows.answers.lazy.compactMap { $0.cell("app_transaction_id") }.first
            let id = if let written { written } else { Cell.text(try appTransactionOfListed(on: connection) ?? listed) }
            return try connection.run(
                .removeLeftGroups,
                [
                    "app": .integer(origin.app.rawValue), "listed_id": .text(listed),
                    "app_transaction_id": id,
                    "asked_at": .timestamp(readAt.rawValue),
                ]
            ).affected
        case .membersOfGroup(let group, let since):
            return try connection.run(
                .removeLeftMembers,
                [
                    "app": .integer(origin.app.rawValue), "group": .text(group), "run": .bigint(origin.runNumber),
                    "asked_since": .timestamp(since.rawValue),
                ]
            ).affected
        }
    }

    /// - Returns: `nil` if the ledger knows no app transaction of the listed ID.
    private func appTransactionOfListed(on connection: borrowing PostgresConnection) throws(PostgresError) -> String? {
        guard let listed = origin.listedTransactionID else { return nil }
        return try connection.run(
            .appTransactionOfListed,
            ["app": .integer(origin.app.rawValue), "listed_id": .text(listed)]
        )[0].textOrNil("id")
    }
}
