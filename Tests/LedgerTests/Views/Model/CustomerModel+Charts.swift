/// The figures of the charts, one line for each row of a view.
extension CustomerModel {
    /// Subscriptions paid for the first time: day, product, storefront, new, trial conversions, introductory, direct.
    var newByDay: [String] {
        var cells: [String: [Int]] = [:]
        for subscription in subscriptions {
            guard let first = subscription.stretches.first(where: \.isPaid), first.served != nil else { continue }
            let hadTrial = subscription.stretches.contains { $0.kind == .trial && $0.starts < first.starts }
            let place = hadTrial ? 1 : first.kind == .introductory && first.offerType == 1 ? 2 : 3
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
            // A trial is a run of free stretches without an interruption.
            var trials: [Range<Int>] = []
            for (number, stretch) in subscription.stretches.enumerated() where stretch.kind == .trial {
                if let last = trials.last, last.upperBound == number,
                    subscription.stretches[number - 1].served.map({ $0 >= stretch.starts }) ?? false
                {
                    trials[trials.count - 1] = last.lowerBound..<number + 1
                } else {
                    trials.append(number..<number + 1)
                }
            }
            for (position, trial) in trials.enumerated() {
                let end = position + 1 < trials.count ? trials[position + 1].lowerBound : subscription.stretches.count
                let first = subscription.stretches[trial.lowerBound]
                let last = subscription.stretches[trial.upperBound - 1]
                var outcome = [1, 0, 0, 0, 0]
                if subscription.stretches[trial.lowerBound..<end].contains(where: \.isPaid) {
                    outcome[1] = 1
                } else if subscription.stretches[trial].contains(where: { $0.served.map { $0 > now } ?? false }) {
                    outcome[2] = 1
                    if let renewal = subscription.renewal, renewal.signed >= last.starts, !renewal.isOn {
                        outcome[3] = 1
                    }
                } else {
                    outcome[4] = 1
                }
                let key = "\(day(of: first.starts)) \(first.product.name) \(first.storefront)"
                for (place, count) in outcome.enumerated() { cells[key, default: [0, 0, 0, 0, 0]][place] += count }
            }
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
