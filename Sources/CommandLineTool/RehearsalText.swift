import ActionKinds
import Actions
import Basics

/// What `actions rehearse` shows of a policy.
struct RehearsalText {
    let rehearsal: PolicyRehearsal
    let job: String

    init(_ rehearsal: PolicyRehearsal, job: String) {
        self.rehearsal = rehearsal
        self.job = job
    }

    var lines: [String] {
        let requests = counted(rehearsal.requests, "refund request")
        let days = counted(rehearsal.days, "day")
        return ["\(job): \(requests) of the last \(days); nothing was sent or stored", "  policy \(rehearsal.sha256)"]
            + rehearsal.rules.flatMap(lines)
    }

    private func lines(of rule: PolicyRehearsal.Rule) -> [String] {
        var lines = ["  rule \(rule.number), \(rule.condition.text): \(counted(rule.requests, "request"))"]
        lines.append("    answer: \(rule.answer.text)")
        guard rule.requests > 0 else { return lines }
        var fates: [String] = []
        if rule.answer == .none {
            fates.append("\(rule.requests) not answered")
        } else {
            fates.append("\(rule.answered) answered")
            if rule.withoutConsent > 0 { fates.append("\(rule.withoutConsent) without consent") }
            fates += rule.sortedOut.sorted { $0.key < $1.key }.map { "\($0.value) sorted out (\($0.key))" }
        }
        lines.append("    \(fates.joined(separator: ", "))")
        let money = rule.money.sorted { $0.key < $1.key }.map { currency, sum in
            "\(BatchSummaryText.amount(sum.milliunits)) \(currency) in \(counted(sum.requests, "request"))"
        }
        if !money.isEmpty { lines.append("    at stake: \(money.joined(separator: ", "))") }
        let outcomes = RefundRequest.Outcome.allCases.compactMap { outcome in
            rule.outcomes[outcome].map { "\($0) \(outcome.rawValue)" }
        }
        lines.append("    Apple's decisions so far: \(outcomes.joined(separator: ", "))")
        return lines
    }
}

extension RehearsalText {
    /// The form of `--json`; documented in docs/reference/json.md.
    struct Document: Encodable {
        struct Money: Encodable { let currency: String, requests, milliunits: Int64 }
        struct Rule: Encodable {
            let rule: Int
            let when, answer: String
            let requests, answered, withoutConsent: Int64
            let sortedOut: [String: Int64]
            let money: [Money]
            let outcomes: [String: Int64]
        }
        let job: String
        let policy: String
        let days, requests: Int64
        let rules: [Rule]
    }

    var document: Document {
        Document(
            job: job,
            policy: rehearsal.sha256,
            days: rehearsal.days,
            requests: rehearsal.requests,
            rules: rehearsal.rules.map { rule in
                Document.Rule(
                    rule: rule.number,
                    when: rule.condition.text,
                    answer: rule.answer.text,
                    requests: rule.requests,
                    answered: rule.answered,
                    withoutConsent: rule.withoutConsent,
                    sortedOut: rule.sortedOut,
                    money: rule.money.sorted { $0.key < $1.key }.map { currency, sum in
                        Document.Money(currency: currency, requests: sum.requests, milliunits: sum.milliunits)
                    },
                    outcomes: Dictionary(
                        uniqueKeysWithValues: RefundRequest.Outcome.allCases.map {
                            ($0.rawValue, rule.outcomes[$0, default: 0])
                        }
                    )
                )
            }
        )
    }
}
