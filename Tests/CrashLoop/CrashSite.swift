/// A crash point with its number in the table of `docs/evidence/crash-points.md`, and the situation in which it is reached.
struct CrashSite: Sendable {
    /// The situation in which a pipeline reaches the point.
    enum Situation: Sendable {
        /// Every run reaches it.
        case anyRun
        /// Pages with records.
        case records
        /// The beginning of a run.
        case newRun
        /// The beginning of a run that takes its customers from the app's notifications.
        case naming
        /// Records that must be rejected and were not read in this run yet.
        case rejects
        /// The end of a run, without another process that could publish it.
        case publishing
        /// The same, of whole tables.
        case publishingTables
        /// The same, of changes.
        case publishingChanges
        /// A 429.
        case closing
        /// A request without a page: an unknown ID, or a refused cursor.
        case refusals
        /// A run that lasts long enough for a heartbeat.
        case heartbeat
        /// A database without the tables.
        case migration
        /// `storeledger erase`, in a separate ledger.
        case erasure
        /// `storeledger actions plan`.
        case planning
        /// `storeledger actions approve`.
        case approving
        /// `storeledger actions run` with rows left.
        case sending
        /// The end of `storeledger actions run`.
        case finishing
        /// `storeledger actions run` that lasts long enough for a heartbeat.
        case sendingHeartbeat
        /// A 429 to `storeledger actions run`.
        case sendingClosing
        /// `storeledger actions results`.
        case results

        var isOfActions: Bool {
            switch self {
            case .planning, .approving, .sending, .finishing, .sendingHeartbeat, .sendingClosing, .results: true
            default: false
            }
        }
    }

    let name: String
    let number: String
    let situation: Situation
    /// The range from which the number of the pass is chosen.
    let passes: ClosedRange<Int>
    /// The point that must be passed before passes of this one count.
    let first: String?

    init(
        _ name: String,
        _ number: String,
        _ situation: Situation,
        _ passes: ClosedRange<Int> = 1...5,
        after first: String? = nil
    ) {
        self.name = name
        self.number = number
        self.situation = situation
        self.passes = passes
        self.first = first
    }

    /// The points that a loop of crawls aims at.
    static let ofCrawls = all.filter { !$0.situation.isOfActions }

    /// The points that a loop of actions aims at: its own, and the points of crawls that it also passes.
    static let ofActions =
        all.filter(\.situation.isOfActions) + [
            CrashSite(also: "leaseAcknowledged", .sending, 1...3),
            CrashSite(also: "grantTaken", .sending),
            CrashSite(also: "grantCommitted", .sending),
            CrashSite(also: "requestHandedOver", .sending),
            CrashSite(also: "requestUnderWay", .sending),
            CrashSite(also: "responseBegun", .sending),
            CrashSite(also: "responseComplete", .sending),
            CrashSite(also: "commitSent", .sending, after: "outcomeUpdated"),
            CrashSite(also: "closingSeen", .sendingClosing, 1...1),
            CrashSite(also: "closingCommitted", .sendingClosing, 1...1),
            CrashSite(also: "fileOpened", .results),
            CrashSite(also: "fileRowWritten", .results, 1...40),
            CrashSite(also: "fileUnflushed", .results),
            CrashSite(also: "fileFlushed", .results),
            CrashSite(also: "fileSealed", .results),
            CrashSite(also: "manifestWithdrawn", .results, 1...1),
            CrashSite(also: "fileRenamed", .results),
            CrashSite(also: "directorySynced", .results, 1...1),
            CrashSite(also: "manifestPublished", .results, 1...1),
        ]

    /// A point of crawls that `storeledger actions` also passes.
    private init(
        also name: String,
        _ situation: Situation,
        _ passes: ClosedRange<Int> = 1...4,
        after first: String? = nil
    ) {
        self.init(name, Self.named(name).number, situation, passes, after: first)
    }

    static let all: [CrashSite] = [
        CrashSite("jobRead", "CP01", .anyRun, 1...1),
        CrashSite("runInserted", "CP02", .newRun, 1...1),
        CrashSite("idCopied", "CP03", .newRun, 1...40),
        CrashSite("idsListed", "CP04", .newRun, 1...1),
        CrashSite("idBatchPlanned", "CP48", .newRun, 1...1),
        CrashSite("customersNamed", "CP47", .naming, 1...1),
        CrashSite("itemsClaimed", "CP05, CP29", .anyRun, 1...3),
        CrashSite("leaseAcknowledged", "CP06", .anyRun, 1...3),
        CrashSite("permitWanted", "CP07", .anyRun),
        CrashSite("grantTaken", "CP08", .anyRun, 1...3),
        CrashSite("grantCommitted", "CP09", .anyRun, 1...3),
        CrashSite("permitReceived", "CP10", .anyRun),
        CrashSite("requestHandedOver", "CP10", .anyRun),
        CrashSite("requestUnderWay", "CP11", .anyRun, 1...20),
        CrashSite("responseBegun", "CP11", .anyRun, 1...20),
        CrashSite("bodyPieceReceived", "CP12", .anyRun, 1...10),
        CrashSite("responseComplete", "CP13", .anyRun),
        CrashSite("recordVerified", "CP14", .records, 1...30),
        CrashSite("pageNormalized", "CP15", .anyRun),
        CrashSite("pageBegun", "CP16", .anyRun),
        CrashSite("rowCopied", "CP17", .records, 42...90),
        CrashSite("tableStaged", "CP18", .records),
        CrashSite("tableMerged", "CP19", .records),
        CrashSite("rejectFiled", "CP20", .rejects, 1...3),
        CrashSite("pageAdvanced", "CP21", .anyRun),
        CrashSite("commitSent", "CP22", .anyRun, 1...5, after: "pageAdvanced"),
        CrashSite("pageCommitted", "CP23", .anyRun),
        CrashSite("nextPageWanted", "CP24", .records, 1...3),
        CrashSite("lastPageCommitted", "CP25", .anyRun),
        CrashSite("runConcluded", "CP26", .publishing, 1...1),
        CrashSite("leasesRenewed", "CP27", .heartbeat, 1...1),
        CrashSite("fileOpened", "CP30", .publishing, 1...4),
        CrashSite("fileRowWritten", "CP31", .publishing, 1...300),
        CrashSite("fileUnflushed", "CP32", .publishing, 1...4),
        CrashSite("fileFlushed", "CP33", .publishing, 1...4),
        CrashSite("fileSealed", "CP34", .publishing, 1...4),
        CrashSite("manifestWithdrawn", "CP34", .publishingTables, 1...1),
        CrashSite("fileRenamed", "CP35, CP37", .publishing, 1...4),
        CrashSite("directorySynced", "CP36", .publishingTables, 1...1),
        CrashSite("manifestPublished", "CP38", .publishing, 1...1),
        CrashSite("partWritten", "CP49", .publishingChanges, 1...1),
        CrashSite("partAnnounced", "CP50", .publishingChanges, 1...1),
        CrashSite("closingSeen", "CP39", .closing, 1...1),
        CrashSite("closingCommitted", "CP40", .closing, 1...1),
        CrashSite("outcomeDecided", "CP41, CP42", .refusals, 1...2),
        CrashSite("outcomeRecorded", "CP41, CP42", .refusals, 1...2),
        CrashSite("migrationApplied", "CP43", .migration, 1...2),
        CrashSite("erasureMarked", "CP44", .erasure, 1...1),
        CrashSite("erasedRowsRemoved", "CP44", .erasure, 1...1),
        CrashSite("batchPlanned", "CP51", .planning, 1...1),
        CrashSite("batchApproved", "CP56", .approving, 1...1),
        CrashSite("batchOpened", "CP57", .sending, 1...1),
        CrashSite("rowsClaimed", "CP58", .sending, 1...2),
        CrashSite("intentWanted", "CP52", .sending),
        CrashSite("intentInserted", "CP59", .sending),
        CrashSite("intentCommitted", "CP53", .sending),
        CrashSite("writeAnswered", "CP54", .sending),
        CrashSite("outcomeUpdated", "CP60", .sending),
        CrashSite("writeRecorded", "CP55", .sending),
        CrashSite("rowLeasesRenewed", "CP61", .sendingHeartbeat, 1...1),
        CrashSite("batchFinished", "CP62", .finishing, 1...1),
    ]

    static func named(_ name: String) -> CrashSite {
        guard let site = all.first(where: { $0.name == name }) else { preconditionFailure("no crash point \(name)") }
        return site
    }
}
