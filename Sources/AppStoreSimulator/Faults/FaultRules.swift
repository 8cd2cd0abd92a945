import Synchronization

/// Decides for each request whether a fault rule applies, and keeps the counts that rules depend on.
final class FaultRules: Sendable {
    private struct State {
        var plan: FaultPlan
        /// For each rule: how many requests it matched, and to how many of them it was applied.
        var counts: [(matched: Int, applied: Int)]

        init(plan: FaultPlan) {
            self.plan = plan
            counts = plan.rules.map { _ in (0, 0) }
        }
    }

    /// The endpoints that rules can name.
    let endpoints: [EndpointName]
    private let state: Mutex<State>

    init(_ plan: FaultPlan, endpoints: [EndpointName]) {
        self.endpoints = endpoints
        state = Mutex(State(plan: plan))
    }

    /// Replaces all rules and starts counting from zero.
    func replace(with plan: FaultPlan) {
        state.withLock { $0 = State(plan: plan) }
    }

    /// How long a `paginationToken` is valid; `nil` when it never expires.
    var tokenLifetime: Duration? {
        state.withLock { $0.plan.tokenLifetimeSeconds.map { .seconds($0) } }
    }

    /// Counts the request and returns the first rule that applies to it.
    func next(for request: RouteRequest) -> FaultRule? {
        let transactionId = request.transactionId
        let orderId = request.orderId
        return state.withLock { state in
            var first: FaultRule?
            for (index, rule) in state.plan.rules.enumerated() {
                guard rule.endpoint == nil || rule.endpoint == request.route.name.text,
                    rule.transactionId == nil || rule.transactionId == transactionId,
                    rule.orderId == nil || rule.orderId == orderId
                else { continue }
                state.counts[index].matched += 1
                guard first == nil, rule.applies(toRequest: state.counts[index].matched),
                    state.counts[index].applied < rule.times ?? .max
                else { continue }
                state.counts[index].applied += 1
                first = rule
            }
            return first
        }
    }
}

extension FaultRule {
    /// - `number`: The request's number among those that the rule matches, from 1.
    fileprivate func applies(toRequest number: Int) -> Bool {
        if let atRequest { return number == atRequest }
        if let everyNth { return number.isMultiple(of: everyNth) }
        return true
    }
}
