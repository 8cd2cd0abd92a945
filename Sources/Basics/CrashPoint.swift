/// A point at which the crash loop can end the process, one for each state from which a restart must recover.
///
/// The table in `docs/explanation/crash-points.md` says what must hold after each. A test compares the names here, the
/// table there and the call sites.
package enum CrashPoint: Sendable {
    // Beginning a run.
    case jobRead
    case runInserted
    case idCopied
    case idsListed
    case idBatchPlanned
    case customersNamed

    // Leases.
    case itemsClaimed
    case leaseAcknowledged
    case leasesRenewed

    // Budget.
    case permitWanted
    case grantTaken
    case grantCommitted
    case permitReceived
    case closingSeen
    case closingCommitted

    // A request.
    case requestHandedOver
    case requestUnderWay
    case responseBegun
    case bodyPieceReceived
    case responseComplete

    // A page.
    case recordVerified
    case pageNormalized
    case pageBegun
    case rowCopied
    case tableStaged
    case tableMerged
    case rejectFiled
    case pageAdvanced
    case commitSent
    case pageCommitted
    case nextPageWanted
    case lastPageCommitted

    // An item that gave no page.
    case outcomeDecided
    case outcomeRecorded

    // CSV files.
    case csvOpened
    case csvRowWritten
    case csvUnflushed
    case csvFlushed
    case csvSealed
    case csvManifestWithdrawn
    case csvRenamed
    case csvDirectorySynced
    case csvManifestPublished

    // The end of a run, the schema, an erasure.
    case runConcluded
    case migrationApplied
    case erasureMarked
    case erasedRowsRemoved
}

#if !FAILPOINTS
    /// Marks a crash point.
    ///
    /// It does nothing unless compiled with `-DFAILPOINTS`.
    @_transparent
    package func crashPoint(_ point: CrashPoint, socket: @autoclosure () -> Int32 = -1) {}

    /// Returns the duration of a lease unchanged; a build with `-DFAILPOINTS` shortens it.
    @_transparent
    package func leaseTime(_ time: Duration) -> Duration { time }
#endif
