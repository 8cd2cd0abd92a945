import AppStoreModel
import FoundationEssentials
import StrictJSON

/// The fault rules of a simulated App Store, in order of precedence.
///
/// As JSON, `{"rules": [{"fault": "rateLimited", "everyNth": 100, "retryAfter": ["1798761600000"]}]}`.
/// `tokenLifetimeSeconds` is how long a `paginationToken` is valid; without it, it never expires.
struct FaultPlan: Codable, Sendable, Equatable {
    var rules: [FaultRule] = []
    var tokenLifetimeSeconds: Int?

    init() {}

    /// - `source`: Where the text comes from, for messages.
    /// - `endpoints`: The endpoints that rules can name.
    ///
    /// Throws ``SimulatorError`` with the rule and its problem.
    init(json: [UInt8], source: String, endpoints: [EndpointName]) throws(SimulatorError) {
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
            guard let problem = rule.problem(endpoints: endpoints) else { continue }
            throw SimulatorError(.input, "Reading fault rules from \(source): rule \(index + 1): \(problem)")
        }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        rules = try container.decodeIfPresent([FaultRule].self, forKey: .rules) ?? []
        tokenLifetimeSeconds = try container.decodeIfPresent(Int.self, forKey: .tokenLifetimeSeconds)
    }

    /// Refuses unknown members: a rule with a misspelt condition would apply to every request.
    private static func checkNames(_ document: JSONObject) throws(SimulatorError) {
        let known: Set = [
            "endpoint", "transactionId", "orderId", "everyNth", "atRequest", "times", "fault", "retryAfter", "status",
            "errorCode",
            "errorMessage", "body", "bytes", "bytesPerSecond", "milliseconds", "oneIn",
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
    fileprivate func problem(endpoints: [EndpointName]) -> String? {
        let names = endpoints.map(\.text)
        if let endpoint, !names.contains(endpoint) {
            return "\"endpoint\" is \"\(endpoint)\"; it must be one of \(names.joined(separator: ", "))."
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
        if [.status, .applyThenStatus].contains(fault), !(status.map { (100...599).contains($0) } ?? false) {
            return "\"status\" must be a number from 100 to 599."
        }
        return nil
    }
}
