/// The figures of the charts, one line for each row of a view.
extension CustomerModel {
    private func day(of instant: Int) -> String { Calendar.text(instant - instant % 86_400) }

    /// Subscriptions paid for the first time: day, product, storefront, new, trial conversions, introductory, direct.
    var newByDay: [String] {
        var cells: [String: [Int]] = [:]
        for subscription in subscriptions {
            guard let first = subscription.stretches.first(where: \.isPaid), first.served != nil else { continue }
            let hadTrial = subscription.stretches.contains { $0.kind == .trial && $0.starts < first.starts }
            let place = hadTrial ? 1 : first.kind == .introductory ? 2 : 3
            let key = "\(day(of: first.starts)) \(first.product.name) \(first.storefront)"
            cells[key, default: [0, 0, 0, 0]][0] += 1
            cells[key, default: [0, 0, 0, 0]][place] += 1
        }
        return cells.map { "\($0.key) " + $0.value.map(String.init).joined(separator: " ") }
    }

    /// Trials: day, product, storefront, started, converted, running, will not renew, lost.
    var trialsByDay: [String] {
        var cells: [String: [Int]] = [:]
        for subscription in subscriptions {
            // A life has a trial at its beginning alone.
            guard let trial = subscription.stretches.first, trial.kind == .trial else { continue }
            let key = "\(day(of: trial.starts)) \(trial.product.name) \(trial.storefront)"
            var outcome = [1, 0, 0, 0, 0]
            if subscription.stretches.contains(where: \.isPaid) {
                outcome[1] = 1
            } else if let served = trial.served, served > now {
                outcome[2] = 1
                if let renewal = subscription.renewal, renewal.signed >= trial.starts, !renewal.isOn { outcome[3] = 1 }
            } else {
                outcome[4] = 1
            }
            for (place, count) in outcome.enumerated() { cells[key, default: [0, 0, 0, 0, 0]][place] += count }
        }
        return cells.map { "\($0.key) " + $0.value.map(String.init).joined(separator: " ") }
    }

    /// MRR that will not renew, of today's: product, storefront, active, mrr, will not renew, its mrr.
    var atRisk: [String] {
        var cells: [String: [Int]] = [:]
        for subscription in subscriptions {
            guard let running = paying(subscription, before: now), let last = subscription.stretches.last,
                running.starts == last.starts
            else { continue }
            let isOff = subscription.renewal.map { $0.signed >= last.starts && !$0.isOn } ?? false
            let monthly = running.monthly ?? 0
            for (place, amount) in [1, monthly, isOff ? 1 : 0, isOff ? monthly : 0].enumerated() {
                cells["\(running.product.name) \(running.storefront)", default: [0, 0, 0, 0]][place] += amount
            }
        }
        return cells.map { "\($0.key) " + $0.value.map(String.init).joined(separator: " ") }
    }
}
