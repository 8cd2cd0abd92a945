/// The result of an erasure; its JSON form is stable and documented in `docs/reference/json.md`.
package struct ErasureSummary: Codable, Equatable, Sendable {
    package struct Count: Codable, Equatable, Sendable {
        package let table: String
        package let rows: Int
    }

    /// The number of removed rows by table, sorted by name; tables without removed rows are left out.
    package let removed: [Count]
    /// The number of new tombstones.
    package let tombstones: Int

    /// Whether the ledger had neither a record nor a tombstone of the customer.
    package var isOfUnknownCustomer: Bool { removed.isEmpty && tombstones > 0 }
}
