import AppStoreModel
import StrictJSON

/// The content of `world.json`, from which a restart generates the same world; ``StepJournal`` has the steps.
struct WorldFile: Equatable, Sendable {
    var parameters: WorldParameters
    /// In a file of version 1, the steps; `nil` when they are in the journal.
    let steps: [WorldStep]?

    init(parameters: WorldParameters) {
        self.parameters = parameters
        steps = nil
    }

    var json: [UInt8] {
        jsonObject {
            $0.member("version", Int64(2))
            $0.member("seed", String(parameters.seed))
            $0.member("customers", Int64(parameters.customers))
            $0.member("transactionsPerCustomer", Int64(parameters.transactionsPerCustomer))
            $0.member("environment", parameters.environment.rawValue)
            $0.member("anchor", parameters.anchor.rawValue)
            $0.member("lateNotifications", Int64(parameters.lateNotifications))
            $0.member("massExtensionRequests", Int64(parameters.massExtensionRequests))
            $0.member("reviewRequests", Int64(parameters.reviewRequests))
            $0.member("advancedCommerceSubscribers", Int64(parameters.advancedCommerceSubscribers))
            $0.member("seatSubscribers", parameters.seatSubscribers == 0 ? nil : Int64(parameters.seatSubscribers))
            $0.member("bundleId", parameters.bundleId)
            $0.member("place", Int64(parameters.place))
            $0.member("account", parameters.account.map { String($0) })
        }
    }

    /// Returns `nil` for a file of another version or a damaged one.
    ///
    /// The simulator then generates a new world.
    init?(json: [UInt8]) {
        // A damaged file counts as no file, see above.
        guard let document = try? StrictJSON.parseObject(json), let version = document.integer("version"),
            [1, 2].contains(version),
            let seed = document["seed"]?.string.flatMap({ UInt64($0) }),
            let customers = document.integer("customers"),
            let transactions = document.integer("transactionsPerCustomer"),
            let environment = document["environment"]?.string.flatMap(AppStoreEnvironment.init(rawValue:)),
            let anchor = document.integer("anchor")
        else { return nil }
        parameters = WorldParameters(
            seed: seed,
            customers: customers,
            transactionsPerCustomer: transactions,
            environment: environment,
            anchor: UnixMilliseconds(rawValue: Int64(anchor)),
            // Missing in files of older versions, which had no late notifications and no actions.
            lateNotifications: document.integer("lateNotifications") ?? 0,
            massExtensionRequests: document.integer("massExtensionRequests")
                ?? SimulatorConfiguration.defaultMassExtensionRequests,
            reviewRequests: document.integer("reviewRequests") ?? SimulatorConfiguration.defaultReviewRequests,
            advancedCommerceSubscribers: document.integer("advancedCommerceSubscribers") ?? 0,
            seatSubscribers: document.integer("seatSubscribers") ?? 0,
            bundleId: document["bundleId"]?.string ?? SimulatorConfiguration.defaultBundleId,
            place: document.integer("place") ?? 0,
            account: document["account"]?.string.flatMap { UInt64($0) }
        )
        steps = version == 1 ? (document["steps"]?.array ?? []).compactMap(\.object).compactMap(WorldStep.init) : nil
    }
}

extension JSONObject {
    /// The value of an integer that fits.
    func integer(_ key: String) -> Int? { self[key]?.number?.int64.map { Int($0) } }
}
