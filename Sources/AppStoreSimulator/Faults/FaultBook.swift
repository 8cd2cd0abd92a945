import AppStoreModel
import Synchronization

/// Says for each request whether something goes wrong with it, and counts for the rules that ask.
final class FaultBook: Sendable {
    private struct State {
        var plan: FaultPlan
        /// For each rule: requests matched and times struck.
        var counts: [(matched: Int, struck: Int)]

        init(plan: FaultPlan) {
            self.plan = plan
            counts = plan.rules.map { _ in (0, 0) }
        }
    }

    private let state: Mutex<State>

    init(_ plan: FaultPlan) {
        state = Mutex(State(plan: plan))
    }

    /// Takes up other rules; counting begins anew.
    func replace(with plan: FaultPlan) {
        state.withLock { $0 = State(plan: plan) }
    }

    /// How long a `paginationToken` is valid, or `nil` for ever.
    var tokenLifetime: Duration? {
        state.withLock { $0.plan.tokenLifetimeSeconds.map { .seconds($0) } }
    }

    /// The first rule that strikes this request.
    func strike(_ endpoint: AppStoreModel.Stream, transactionId: String?) -> FaultRule? {
        state.withLock { state in
            var first: FaultRule?
            for (index, rule) in state.plan.rules.enumerated() {
                guard rule.endpoint == nil || rule.endpoint == endpoint.rawValue,
                    rule.transactionId == nil || rule.transactionId == transactionId
                else { continue }
                state.counts[index].matched += 1
                guard first == nil, rule.strikes(at: state.counts[index].matched),
                    state.counts[index].struck < rule.times ?? .max
                else { continue }
                state.counts[index].struck += 1
                first = rule
            }
            return first
        }
    }
}

extension FaultRule {
    fileprivate func strikes(at number: Int) -> Bool {
        if let atRequest { return number == atRequest }
        if let everyNth { return number.isMultiple(of: everyNth) }
        return true
    }
}
