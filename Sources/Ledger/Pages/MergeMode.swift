/// How records are merged into the ledger.
package enum MergeMode: Sendable {
    /// Records in a response from Apple.
    case fetched
    /// Records that are verified again, such as rejected ones and those inside notifications.
    ///
    /// A row made again from the same snapshot replaces the ledger's row, because a newer StoreLedger may read more
    /// fields from the same payload.
    case replayed
    /// Like ``replayed``, for payloads that all come from the archive, so that none has to be archived.
    case replayedFromArchive

    /// Whether a snapshot that the ledger already has can replace its own row.
    var rewritesHeldSnapshots: Bool { self != .fetched }
    var archives: Bool { self != .replayedFromArchive }
}
