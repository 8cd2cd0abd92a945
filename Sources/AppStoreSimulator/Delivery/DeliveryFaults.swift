import FoundationEssentials
import StrictJSON

/// The fault rules of deliveries, in order of precedence, and the counts that they depend on.
struct DeliveryFaults: Sendable {
    private let rules: [DeliveryFaultRule]
    /// For each rule: how many notifications it matched, and to how many of them it was applied.
    private var counts: [(matched: Int, applied: Int)]

    init(_ rules: [DeliveryFaultRule] = []) {
        self.rules = rules
        counts = rules.map { _ in (0, 0) }
    }

    /// Reads `{"rules": […]}`.
    ///
    /// - Throws: ``SimulatorError`` with the rule and its problem.
    init(json: [UInt8]) throws(SimulatorError) {
        struct Plan: Decodable { let rules: [DeliveryFaultRule] }
        let rules: [DeliveryFaultRule]
        do {
            let document = try StrictJSON.parseObject(json)
            let names = (document["rules"]?.array ?? []).compactMap(\.object).flatMap(\.members).map(\.key)
            if let unknown = names.first(where: { !DeliveryFaultRule.members.contains($0) }) {
                let known = DeliveryFaultRule.members.sorted().joined(separator: ", ")
                throw SimulatorError(.input, "\"\(unknown)\" is not a member of a delivery fault; they are \(known).")
            }
            rules = try JSONDecoder().decode(Plan.self, from: Data(json)).rules
        } catch let error as SimulatorError {
            throw error
        } catch {
            let faults = DeliveryFaultRule.Fault.allCases.map(\.rawValue).joined(separator: ", ")
            throw SimulatorError(.input, "Send {\"rules\": [{\"fault\": \"…\"}]} with one of \(faults).")
        }
        for (index, rule) in rules.enumerated() {
            if let problem = rule.problem { throw SimulatorError(.input, "Rule \(index + 1): \(problem)") }
        }
        self.init(rules)
    }

    /// Counts the notification and returns the first rule that applies to it.
    mutating func next(for notification: Notification) -> DeliveryFaultRule? {
        var first: DeliveryFaultRule?
        for (index, rule) in rules.enumerated() {
            guard rule.notificationType == nil || rule.notificationType == notification.kind.type else { continue }
            counts[index].matched += 1
            guard first == nil, counts[index].matched.isMultiple(of: rule.everyNth ?? 1),
                counts[index].applied < rule.times ?? .max
            else { continue }
            counts[index].applied += 1
            first = rule
        }
        return first
    }
}
