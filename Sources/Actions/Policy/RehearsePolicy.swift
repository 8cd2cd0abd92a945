package import ActionKinds
import JobFiles
import Ledger
import Postgres

/// What a policy would have answered to earlier refund requests, and what Apple decided.
package struct PolicyRehearsal: Sendable {
    /// The requests that one rule decides.
    package struct Rule: Sendable {
        /// From 1.
        package let number: Int
        package let condition: RefundCondition
        package let answer: ConsumptionAnswer
        package fileprivate(set) var requests: Int64 = 0
        /// Requests of customers without consent, which would not be answered.
        package fileprivate(set) var withoutConsent: Int64 = 0
        /// Requests whose answer the plan would sort out, by its rule.
        package fileprivate(set) var sortedOut: [String: Int64] = [:]
        /// What the requested purchases cost.
        package fileprivate(set) var money: [String: (requests: Int64, milliunits: Int64)] = [:]
        package fileprivate(set) var outcomes: [RefundRequest.Outcome: Int64] = [:]

        /// The requests that the rule would have answered.
        package var answered: Int64 {
            answer == .none ? 0 : requests - withoutConsent - sortedOut.values.reduce(0, +)
        }

        fileprivate mutating func count(_ request: RefundRequest, hasConsent: Bool) {
            requests += 1
            outcomes[request.outcome, default: 0] += 1
            if let currency = request.currency, let price = request.priceMilliunits {
                let sum = money[currency, default: (0, 0)]
                money[currency] = (sum.requests + 1, sum.milliunits + price)
            }
            guard answer != .none else { return }
            if !hasConsent {
                withoutConsent += 1
            } else if let rule = answer.misfit(request) {
                sortedOut[rule, default: 0] += 1
            }
        }
    }

    /// ``JobFiles/ActionJob/policySHA256``: what an approval of the policy names.
    package let sha256: String
    package let days: Int64
    package let rules: [Rule]

    package var requests: Int64 { rules.reduce(0) { $0 + $1.requests } }

    /// Applies a policy to requests.
    init(
        _ policy: ConsumptionPolicy,
        sha256: String,
        days: Int64,
        to requests: [RefundRequest],
        consent: CustomerConsent
    ) {
        var rules = policy.rules.enumerated().map { place, rule in
            Rule(number: place + 1, condition: rule.condition, answer: rule.answer)
        }
        for request in requests {
            rules[policy.rule(for: request)].count(request, hasConsent: consent.covers(request))
        }
        self.sha256 = sha256
        self.days = days
        self.rules = rules
    }
}

extension ActionLedger {
    /// Applies the job's policy to the requests of the last days, by what the ledger knows of the time of each request.
    ///
    /// Sends and stores nothing.
    ///
    /// - Throws: ``ActionRefusal/noPolicy(job:)``, ``ActionInputError``, ``Postgres/PostgresError``.
    package func rehearse(days: Int64) async throws -> PolicyRehearsal {
        guard let policy = job.policy, let sha256 = job.policySHA256 else {
            throw ActionRefusal.noPolicy(job: job.name)
        }
        let app = app
        return try await ledger.transaction(.readOnlySnapshot) { connection in
            let requests = try RefundRequest.all(of: app, days: days, on: connection)
            let consent = try CustomerConsent(policy.consent, for: requests, on: connection)
            return PolicyRehearsal(policy, sha256: sha256, days: days, to: requests, consent: consent)
        }
    }
}
