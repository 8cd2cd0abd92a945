import AppStoreModel
import StrictJSON

/// The content of `world.json`: the parameters of the world and its steps, from which a restart generates the same world.
struct WorldFile: Equatable, Sendable {
    var parameters: WorldParameters
    var steps: [WorldStep] = []

    init(parameters: WorldParameters) {
        self.parameters = parameters
    }

    var json: [UInt8] {
        let steps = steps.map { step in
            jsonObject {
                switch step {
                case .changes(let count, let date):
                    $0.member("changes", Int64(count))
                    $0.member("from", date)
                case .days(let count): $0.member("days", Int64(count))
                }
            }
        }
        return jsonObject {
            $0.member("version", Int64(1))
            $0.member("seed", String(parameters.seed))
            $0.member("customers", Int64(parameters.customers))
            $0.member("transactionsPerCustomer", Int64(parameters.transactionsPerCustomer))
            $0.member("environment", parameters.environment.rawValue)
            $0.member("anchor", parameters.anchor.rawValue)
            $0.member("lateNotifications", Int64(parameters.lateNotifications))
            $0.member("steps", objects: steps)
        }
    }

    /// Returns `nil` for a file of another version or a damaged one.
    ///
    /// The simulator then generates a new world.
    init?(json: [UInt8]) {
        // A damaged file counts as no file, see above.
        guard let document = try? StrictJSON.parseObject(json), document["version"] == .number(JSONNumber(text: "1")),
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
            // Missing in files of older versions, which had no late notifications and put changes right after the last one.
            lateNotifications: document.integer("lateNotifications") ?? 0
        )
        steps = (document["steps"]?.array ?? []).compactMap(\.object).compactMap { step in
            step.integer("changes").map { .changes($0, from: Int64(step.integer("from") ?? 0)) }
                ?? step.integer("days").map(WorldStep.days)
        }
    }
}

extension JSONObject {
    fileprivate func integer(_ key: String) -> Int? {
        guard case .number(let number)? = self[key] else { return nil }
        return Int(number.text)
    }
}
