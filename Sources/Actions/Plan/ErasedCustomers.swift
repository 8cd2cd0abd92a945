import AppStoreModel
import Ledger
import LedgerSchema
import Postgres

/// Keeps customers who were erased, also during the plan, out of a batch.
///
/// A plan can read its input for minutes, so it blocks erasures only when its rows are written: ``blockErasures(on:)``. If an erasure
/// has committed since the tombstones were read, a row can name its customer, and the plan begins again.
struct ErasedCustomers {
    private let app: AppID
    /// `nil` if no customer of the app was erased.
    private let tombstones: Tombstones?
    /// The number of tombstones when they were read.
    private let count: Int64

    /// - Parameters:
    ///   - isBlocking: Whether to block erasures until the transaction ends.
    ///   - connection: Inside the transaction of the plan, before it reads anything.
    /// - Throws: ``Postgres/PostgresError``.
    init(of app: AppID, isBlocking: Bool, on connection: borrowing PostgresConnection) throws {
        self.app = app
        if isBlocking {
            tombstones = try Tombstones.blockingErasures(of: app, on: connection)
            count = try Tombstones.count(of: app, on: connection)
        } else {
            count = try Tombstones.count(of: app, on: connection)
            tombstones = try Tombstones.withoutBlocking(of: app, on: connection)
        }
    }

    /// The rows without the content of those that name an erased customer in any of their cells.
    func clearing(_ rows: [InputRow], on connection: borrowing PostgresConnection) throws -> [InputRow] {
        guard let tombstones else { return rows }
        let ids = rows.map(\.quotedIDs)
        let erased = try tombstones.erased(among: ids.reduce(into: []) { $0.formUnion($1) }, on: connection)
        guard !erased.isEmpty else { return rows }
        return zip(rows, ids).map { row, ids in erased.isDisjoint(with: ids) ? row : row.ofErasedCustomer }
    }

    /// Blocks erasures until the transaction ends.
    ///
    /// - Throws: ``ErasedMeanwhile`` if one has committed since the tombstones were read; ``Postgres/PostgresError``.
    func blockErasures(on connection: borrowing PostgresConnection) throws {
        _ = try Tombstones.blockingErasures(of: app, on: connection)
        guard try Tombstones.count(of: app, on: connection) == count else { throw ErasedMeanwhile() }
    }
}

/// An erasure has committed while the plan read its rows.
struct ErasedMeanwhile: Error {}

extension ActionLedger {
    /// Runs a plan in one transaction.
    ///
    /// If an erasure commits while the plan reads its rows, everything is rolled back, and the second plan blocks erasures from its
    /// beginning.
    func withoutErasedCustomers<R: Sendable>(
        _ body: @escaping @Sendable (borrowing PostgresConnection, ErasedCustomers) throws -> R
    ) async throws -> R {
        let app = app
        func attempt(isBlocking: Bool) async throws -> R {
            try await ledger.transaction { connection in
                try body(connection, ErasedCustomers(of: app, isBlocking: isBlocking, on: connection))
            }
        }
        do {
            return try await attempt(isBlocking: false)
        } catch is ErasedMeanwhile {
            return try await attempt(isBlocking: true)
        }
    }
}

extension InputRow {
    /// What may be customers' IDs in the cells.
    fileprivate var quotedIDs: Set<CustomerID> {
        var ids: Set<CustomerID> = []
        for cell in input {
            ids.formUnion(IDScanner.ids(in: Array(cell.utf8)))
            if let order = OrderID(cell) { ids.insert(.order(order.text)) }
        }
        if let subject { ids.insert(.transaction(subject)) }
        return ids
    }

    /// The row without its content.
    fileprivate var ofErasedCustomer: InputRow {
        var row = InputRow(position: position, line: line, input: [])
        row.group = group
        row.problem = ("erased", "the customer was erased")
        return row
    }
}
