import AppStoreModel
import Synchronization

/// Decides for each request whether a fault rule applies, and keeps the counts that rules depend on.
final class FaultRules: Sendable {
    private struct State {
        var plan: FaultPlan
        /// For each rule: how many requests it matched, to how many of them it was applied, and when for the first time.
        var counts: [(matched: Int, applied: Int, begin: UnixMilliseconds?)]
        /// When each token came for the first time, by its short name.
        var tokens: [String: UnixMilliseconds] = [:]

        init(plan: FaultPlan) {
            self.plan = plan
            counts = plan.rules.map { _ in (0, 0, nil) }
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
    ///
    /// - `token`: The short name of its token.
    func next(for request: RouteRequest, token: String, at now: UnixMilliseconds) -> FaultRule? {
        let transactionId = request.transactionId
        let orderId = request.orderId
        return state.withLock { state in
            var first: FaultRule?
            let tokenAge = now - state.tokens[token, default: now]
            if state.plan.rules.contains(where: { $0.fault == .refuseNewToken }) {
                state.tokens[token] = state.tokens[token] ?? now
            }
            for (index, rule) in state.plan.rules.enumerated() {
                guard rule.endpoint == nil || rule.endpoint == request.route.name.text,
                    rule.transactionId == nil || rule.transactionId == transactionId,
                    rule.orderId == nil || rule.orderId == orderId
                else { continue }
                state.counts[index].matched += 1
                let spell = rule.fault == .refuseToken ? rule.milliseconds.map { Duration.milliseconds($0) } : nil
                let applies =
                    if let spell, let begin = state.counts[index].begin {
                        now < begin + spell
                    } else {
                        rule.applies(toRequest: state.counts[index].matched)
                    }
                guard first == nil, applies, state.counts[index].applied < rule.times ?? .max,
                    rule.fault != .refuseNewToken || tokenAge < .milliseconds(rule.milliseconds ?? 0)
                else { continue }
                state.counts[index].applied += 1
                state.counts[index].begin = state.counts[index].begin ?? now
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
