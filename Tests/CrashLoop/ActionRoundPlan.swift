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
    /// The actions of the batches, in their order; the last two take turns afterwards.
    let kinds: [Kind]
    /// Whether a batch is of the Advanced Commerce API.
    let hasCommerce: Bool
    /// Whether the store answers 4000097 to every repeated request of the Advanced Commerce API, also where Apple does not list it.
    let refusesEveryRepeat: Bool

    /// Of 15 faults eight hit crash points, three come at any moment, two are of the other kinds, one is an erasure, and one ends an
    /// approval.
    private static let points = 8
    private static let kills = 3
    private static let others = 2

    /// An action, without what differs from batch to batch.
    enum Kind: Sendable {
        case extend(days: Int)
        case setToken
        case finish
        case commerce(CommerceCall)
    }

    init(seed: UInt64, workers most: Int) {
        self.seed = seed
        var random = SeededRandom(seed: seed)
        // Every second round has batches of the Advanced Commerce API. They need more customers, because no two batches
        // have the same subscriptions.
        hasCommerce = !seed.isMultiple(of: 2)
        refusesEveryRepeat = (seed / 2).isMultiple(of: 2)
        kinds = hasCommerce ? Self.commerce(seed: seed) : Self.ordinary
        store = SimulatedStore.Options(
            seed: Int(seed % 1_000_000) + 1,
            customers: hasCommerce ? 160 : 80,
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
        let changes = InjectedFault.Interference.allCases
        faults.append(.interference(changes[round / 2 % changes.count]))
        faults.append(.erasure)
        faults.shuffle(using: &random)
        self.faults = faults
    }

    /// Apple extends a subscription twice, so later batches are of the other actions.
    private static let ordinary: [Kind] = [.extend(days: 7), .setToken, .extend(days: 3), .finish, .setToken]

    /// The migration, which gives the other calls their subscriptions, and then these, beginning with another one in each round.
    private static func commerce(seed: UInt64) -> [Kind] {
        let others = CommerceCall.allCases.filter { $0 != .migrateSubscription }
        let first = Int(seed / 2 % UInt64(others.count))
        let turned = others[first...] + others[..<first]
        return [.commerce(.migrateSubscription)] + turned.map { .commerce($0) } + [.finish, .setToken]
    }

    /// - Parameter number: Of the batch, from 0.
    /// - Returns: Its action.
    func action(of number: Int) -> ActionBatchJob.Action {
        switch kinds.indices.contains(number) ? kinds[number] : kinds[kinds.count - 1 - number % 2] {
        case .extend(let days): .extend(days: days)
        // No two customers get the same token, because an erasure takes all who have it for one customer.
        case .setToken: .setToken(prefix: String("00000000\(seed)\(number)".suffix(8)) + "-0000-4000-8000-")
        case .finish: .finish
        case .commerce(let call): .commerce(call)
        }
    }
}
