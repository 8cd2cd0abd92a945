import Synchronization

/// A point at which the crash loop can end the process, one for each state from which a restart must recover.
///
/// The table in `docs/evidence/crash-points.md` says what must be true after each. A test compares the names here, the
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

    // A batch of an action.
    case batchPlanned
    case batchApproved
    case batchOpened
    case rowsClaimed
    case intentWanted
    case intentInserted
    case intentCommitted
    case writeAnswered
    case outcomeUpdated
    case writeRecorded
    case rowLeasesRenewed
    case batchFinished

    // Published files.
    case fileOpened
    case fileRowWritten
    case fileUnflushed
    case fileFlushed
    case fileSealed
    case manifestWithdrawn
    case fileRenamed
    case directorySynced
    case manifestPublished
    case partWritten
    case partAnnounced

    // The end of a run, the schema, an erasure.
    case runConcluded
    case migrationApplied
    case erasureMarked
    case erasedRowsRemoved
}

/// Marks a crash point.
///
/// It does nothing unless a ``CrashPointHandler`` is installed.
///
/// - Parameter socket: The socket that a fault at this point can shut down; -1 for none.
package func crashPoint(_ point: CrashPoint, socket: @autoclosure () -> Int32 = -1) {
    guard isInstalled.load(ordering: .acquiring) else { return }
    installed.withLock { $0 }?.action(point, socket())
}

/// The duration of a lease, which an installed ``CrashPointHandler`` shortens.
package func leaseTime(_ time: Duration) -> Duration { time / (installed.withLock { $0 }?.leaseDivisor ?? 1) }

/// What the crash loop does at crash points.
///
/// Only the executable `storeledger-failpoints` installs one.
package struct CrashPointHandler: Sendable {
    let leaseDivisor: Int
    let action: @Sendable (_ point: CrashPoint, _ socket: Int32) -> Void

    /// - Parameters:
    ///   - leaseDivisor: Divides the duration of a lease; 1 or more.
    ///   - action: Called by every thread that passes a crash point.
    package init(leaseDivisor: Int, action: @escaping @Sendable (_ point: CrashPoint, _ socket: Int32) -> Void) {
        self.leaseDivisor = leaseDivisor
        self.action = action
    }

    /// Installs the handler of this process, before anything else runs.
    package static func install(_ handler: CrashPointHandler) {
        installed.withLock { $0 = handler }
        isInstalled.store(true, ordering: .releasing)
    }
}

private let installed = Mutex<CrashPointHandler?>(nil)
/// Spares ordinary processes the lock.
private let isInstalled = Atomic(false)
