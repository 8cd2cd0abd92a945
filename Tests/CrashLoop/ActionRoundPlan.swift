import TestSupport

/// The parameters of one round of actions, derived from its seed.
struct ActionRoundPlan: Sendable {
    let seed: UInt64
    let store: SimulatedStore.Options
    /// The number of concurrent rows in each process.
    let concurrency: Int
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
        store = SimulatedStore.Options(
            seed: Int(seed % 1_000_000) + 1,
            customers: 80,
            transactionsPerCustomer: 5
        )
        concurrency = Int.random(in: 1...4, using: &random)
        workers = Int.random(in: 1...most, using: &random)

        // Consecutive seeds use all crash points and all other faults in turn.
        var deck = CrashSite.ofActions
        var shuffle = SeededRandom(seed: 0)
        deck.shuffle(using: &shuffle)
        let round = Int(seed % 1_000_000)
        var faults: [InjectedFault] = (0..<Self.points).map { place in
            let site = deck[(round * Self.points + place) % deck.count]
            return .point(PlannedPoint(site, nth: Int.random(in: site.passes, using: &random)))
        }
        faults += Array(repeating: .kill, count: Self.kills)
        let stops = [
            "intentCommitted", "intentWanted", "writeAnswered", "intentInserted", "outcomeUpdated", "writeRecorded",
        ]
        let stop = PlannedPoint(.named(stops[round % stops.count]), nth: Int.random(in: 1...3, using: &random))
        let other: [InjectedFault] = [
            .pause, .killBackend, .cutCommit, .killPostmaster, .stopAt(stop), .stopPostgresAtOnce, .terminate,
            .terminateTwice,
        ]
        faults += (0..<Self.others).map { other[(round * Self.others + $0) % other.count] }
        faults.shuffle(using: &random)
        self.faults = faults
    }
}
