/// The number of records in a batch that were new, newer, or already known.
package struct RowCounts: Equatable, Sendable {
    package var new = 0
    package var updated = 0
    package var unchanged = 0
    /// Records of erased customers, which are not stored.
    package var withheld = 0
    /// The reason of each rejected record that is new to the ledger; see ``Quarantine``.
    package var newlyRejected: [String] = []
    /// Rejected records that an operator has dismissed; they are stored, but not counted.
    package var dismissed = 0

    package init() {}
}
