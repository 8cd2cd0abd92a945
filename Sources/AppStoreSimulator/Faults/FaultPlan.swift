import AppStoreModel
import FoundationEssentials

/// All that a simulated App Store does wrong, in the order of the rules.
///
/// As JSON, `{"rules": [{"fault": "rateLimited", "everyNth": 100, "retryAfter": ["1798761600000"]}]}`.
/// `tokenLifetimeSeconds` is how long a `paginationToken` stays valid; without it, for ever.
struct FaultPlan: Codable, Sendable, Equatable {
    var rules: [FaultRule] = []
    var tokenLifetimeSeconds: Int?

    init() {}

    /// - `source`: Where the text is from, for the message.
    ///
    /// Throws ``SimulatorError`` naming the rule and what is wrong with it.
    init(json: [UInt8], source: String) throws(SimulatorError) {
        do {
            try Self.checkNames(StrictJSON.parseObject(json))
            self = try JSONDecoder().decode(FaultPlan.self, from: Data(json))
        } catch let error as SimulatorError {
            throw SimulatorError(.input, "Reading fault rules from \(source): \(error.description)")
        } catch {
            throw SimulatorError(
                .input,
                "Reading fault rules from \(source): \(error). Expected {\"rules\": [{\"fault\": \"…\"}]} with one of "
                    + FaultRule.Fault.allCases.map(\.rawValue).joined(separator: ", ") + "."
            )
        }
        for (index, rule) in rules.enumerated() {
            guard let complaint = rule.complaint else { continue }
            throw SimulatorError(.input, "Reading fault rules from \(source): rule \(index + 1): \(complaint)")
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        rules = try container.decodeIfPresent([FaultRule].self, forKey: .rules) ?? []
        tokenLifetimeSeconds = try container.decodeIfPresent(Int.self, forKey: .tokenLifetimeSeconds)
    }

    /// A misspelt member would make a rule strike everything.
    private static func checkNames(_ document: JSONObject) throws(SimulatorError) {
        let known: Set = [
            "endpoint", "transactionId", "everyNth", "atRequest", "times", "fault", "retryAfter", "status", "errorCode",
            "errorMessage", "body", "bytes", "bytesPerSecond", "milliseconds",
            "oneIn",
        ]
        let plan = document.members.map(\.key).filter { !["rules", "tokenLifetimeSeconds"].contains($0) }
        let rules = (document["rules"]?.array ?? []).compactMap(\.object).flatMap(\.members).map(\.key)
        guard let unknown = plan.first ?? rules.first(where: { !known.contains($0) }) else { return }
        throw SimulatorError(
            .input,
            "\"\(unknown)\" is not a member of a fault plan; rules have \(known.sorted().joined(separator: ", "))."
        )
    }
}

extension FaultRule {
    fileprivate var complaint: String? {
        if let endpoint, AppStoreModel.Stream(rawValue: endpoint) == nil {
            return "\"endpoint\" is \"\(endpoint)\"; it must be one of "
                + AppStoreModel.Stream.allCases.map(\.rawValue).joined(separator: ", ") + "."
        }
        let counts = [
            ("everyNth", everyNth), ("atRequest", atRequest), ("times", times), ("bytesPerSecond", bytesPerSecond),
            ("oneIn", oneIn),
        ]
        if let (name, value) = counts.first(where: { $0.1.map { $0 < 1 } ?? false }) {
            return "\"\(name)\" is \(value ?? 0); it must be at least 1."
        }
        if let bytes, bytes < 0 { return "\"bytes\" is \(bytes); it must be at least 0." }
        if let milliseconds, milliseconds < 0 { return "\"milliseconds\" is \(milliseconds); it must be at least 0." }
        if fault == .status, !(status.map { (100...599).contains($0) } ?? false) {
            return "\"status\" must be a number from 100 to 599."
        }
        return nil
    }
}
