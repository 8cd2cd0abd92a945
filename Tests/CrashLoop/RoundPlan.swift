import TestSupport

/// The parameters of one round, derived from its seed.
struct RoundPlan: Sendable {
    let seed: UInt64
    let store: SimulatedStore.Options
    /// The number of concurrent items in each process.
    let concurrency: Int
    /// The length in seconds of the window of Apple's limits; `nil` for no effective limits.
    let windowSeconds: Int?
    let refunds: String
    /// One record in this many is badly signed.
    let badOneIn: Int?
    let listsUnknownID: Bool
    /// Whether the files have only what changed since the last run.
    let publishesChanges: Bool
    /// The most concurrent processes.
    let workers: Int
    let faults: [InjectedFault]

    /// Of 14 faults eight hit crash points, four come at any moment, and two are of the other kinds.
    private static let points = 8
    private static let kills = 4
    private static let others = 2

    init(seed: UInt64, workers most: Int) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        windowSeconds = seed.isMultiple(of: 4) ? 10 : nil
        store = SimulatedStore.Options(
            seed: Int(seed % 1_000_000) + 1,
            customers: Int.random(in: 30...45, using: &random),
            transactionsPerCustomer: Int.random(in: 15...30, using: &random),
            windowSeconds: windowSeconds
        )
        concurrency = Int.random(in: 1...6, using: &random)
        refunds = Bool.random(using: &random) ? "{for: all}" : "{for: revoked}"
        badOneIn = 60
        listsUnknownID = Bool.random(using: &random)
        workers = Int.random(in: 1...most, using: &random)

        // Consecutive seeds use all crash points and all other faults in turn.
        var deck = CrashSite.ofCrawls
        var shuffle = SeededRandom(seed: 0)
        deck.shuffle(using: &shuffle)
        let sites = (0..<Self.points).map { deck[(Int(seed % 1_000_000) * Self.points + $0) % deck.count] }
        // A round has one kind of publication, which its points determine.
        let ofTables = sites.contains { $0.situation == .publishingTables }
        publishesChanges = sites.contains { $0.situation == .publishingChanges } || !ofTables && seed.isMultiple(of: 2)
        var faults: [InjectedFault] = []
        for site in sites {
            let isOfOtherKind = publishesChanges && site.situation == .publishingTables
            let site = isOfOtherKind ? CrashSite.named("fileSealed") : site
            faults.append(.point(PlannedPoint(site, nth: Int.random(in: site.passes, using: &random))))
        }
        faults += Array(repeating: .kill, count: Self.kills)
        let stops = ["pageNormalized", "pageNormalized", "recordVerified", "pageBegun", "pageAdvanced", "permitWanted"]
        let other: [InjectedFault] = [
            .pause, .killBackend, .cutCommit, .killPostmaster,
            .stopAt(PlannedPoint(.named(stops[Int(seed) % stops.count]), nth: Int.random(in: 1...4, using: &random))),
            .stopPostgresAtOnce, .terminate, .cutPages, .terminateTwice,
        ]
        for place in 0..<Self.others {
            faults.append(other[(Int(seed % 1_000_000) * Self.others + place) % other.count])
        }
        faults.shuffle(using: &random)
        self.faults = faults
    }
}
