/// The figures, one line for each row of a view.
extension CustomerModel {
    /// Active paid subscriptions: month, product, period, currency, active, without_mrr, mrr.
    var mrrByMonth: [String] {
        var cells: [String: (active: Int, unknown: Int, monthly: Int)] = [:]
        for month in months {
            for subscription in subscriptions {
                guard let now = paying(subscription, before: month.ends) else { continue }
                let key = "\(month.name) \(now.product.name) \(now.product.period) \(now.currency)"
                cells[key, default: (0, 0, 0)].active += 1
                cells[key, default: (0, 0, 0)].unknown += now.monthly == nil ? 1 : 0
                cells[key, default: (0, 0, 0)].monthly += now.monthly ?? 0
            }
        }
        return cells.map { "\($0.key) \($0.value.active) \($0.value.unknown) \($0.value.monthly)" }
    }

    struct Movement {
        var opening = 0, new = 0, reactivation = 0, expansion = 0, contraction = 0, churn = 0, switchedIn = 0,
            switchedOut = 0
        var closing = 0, openingCount = 0, newCount = 0, reactivated = 0, expanded = 0, contracted = 0, churned = 0
        var closingCount = 0

        var text: String {
            let amounts = [opening, new, reactivation, expansion, contraction, churn, switchedIn, switchedOut, closing]
            let counts = [openingCount, newCount, reactivated, expanded, contracted, churned, closingCount]
            return (amounts + counts).map(String.init).joined(separator: " ")
        }
    }

    /// Movement of MRR: month, currency, then the amounts and the counts in the order of ``Movement/text``.
    var movementByMonth: [String] { movementCells.map { "\($0.key) \($0.value.text)" } }

    var movementCells: [String: Movement] {
        var cells: [String: Movement] = [:]
        for month in months {
            for subscription in subscriptions {
                let before = paying(subscription, before: month.begins)
                let after = paying(subscription, before: month.ends)
                if let before {
                    cells["\(month.name) \(before.currency)", default: Movement()].leave(before, for: after)
                }
                if let after {
                    let firstPaid = subscription.stretches.first(where: \.isPaid)?.starts ?? 0
                    cells["\(month.name) \(after.currency)", default: Movement()]
                        .arrive(after, from: before, isNew: firstPaid >= month.begins)
                }
            }
        }
        return cells
    }

    /// Active at the end of a day: day, product, active, trials; only days and products with a subscription.
    var activeByDay: [String] {
        var cells: [String: (paid: Int, trials: Int)] = [:]
        for subscription in subscriptions {
            guard let last = subscription.stretches.compactMap(\.served).max() else { continue }
            for day in days where subscription.stretches[0].starts < day.ends && day.ends <= last {
                guard let stretch = running(subscription, before: day.ends), stretch.kind != .shared else { continue }
                let key = "\(day.name) \(stretch.product.name)"
                if stretch.kind == .trial {
                    cells[key, default: (0, 0)].trials += 1
                } else {
                    cells[key, default: (0, 0)].paid += 1
                }
            }
        }
        return cells.map { "\($0.key) \($0.value.paid) \($0.value.trials)" }
    }

    /// Churn: month, product, active at its start, churned; only where a subscription was active.
    var churnByMonth: [String] {
        var cells: [String: (active: Int, churned: Int)] = [:]
        for month in months {
            for subscription in subscriptions {
                guard let before = paying(subscription, before: month.begins) else { continue }
                let key = "\(month.name) \(before.product.name)"
                cells[key, default: (0, 0)].active += 1
                if paying(subscription, before: month.ends) == nil { cells[key, default: (0, 0)].churned += 1 }
            }
        }
        return cells.map { "\($0.key) \($0.value.active) \($0.value.churned)" }
    }

    /// Retention: cohort, product, month number, subscriptions, retained; of months that are over.
    var retention: [String] {
        var cells: [String: (all: Int, retained: Int)] = [:]
        let months = self.months
        for subscription in subscriptions {
            guard
                let first = subscription.stretches.first(where: {
                    $0.isPaid && !($0.kind == .introductory && $0.offerType == 1)
                }),
                let cohort = months.lastIndex(where: { $0.begins <= first.starts })
            else { continue }
            for (number, month) in months[cohort...].filter(\.isOver).enumerated() {
                let key = "\(months[cohort].name) \(first.product.name) \(number)"
                cells[key, default: (0, 0)].all += 1
                cells[key, default: (0, 0)].retained += paying(subscription, before: month.ends) == nil ? 0 : 1
            }
        }
        return cells.map { "\($0.key) \($0.value.all) \($0.value.retained)" }
    }

    /// Subscriptions by state: product, currency, status, subscriptions, mrr.
    var byStatus: [String] {
        var cells: [String: (count: Int, monthly: Int)] = [:]
        for subscription in subscriptions {
            guard let last = subscription.stretches.last else { continue }
            let status = status(of: last, renewal: subscription.renewal)
            let counts = last.isPaid && (status == "active" || status == "grace period")
            let key = "\(last.product.name) \(last.currency) \(status)"
            cells[key, default: (0, 0)].count += 1
            cells[key, default: (0, 0)].monthly += counts ? last.monthly ?? 0 : 0
        }
        return cells.map { "\($0.key) \($0.value.count) \($0.value.monthly)" }
    }

    private func status(of last: RandomCustomers.Stretch, renewal: RandomCustomers.Renewal?) -> String {
        if let revoked = last.revoked, revoked <= now { return "revoked" }
        guard let expires = last.expires else { return "unknown" }
        if expires > now { return "active" }
        if let grace = last.graceUntil, grace > now { return "grace period" }
        if let renewal, renewal.isRetried, renewal.signed >= last.starts,
            max(expires, renewal.signed) + 60 * 86_400 > now
        {
            return "billing retry"
        }
        return "expired"
    }

    /// Sales and refunds: month, product, currency, gross, refunds, refunded, upgrades, estimated refunds of upgrades.
    var revenueByMonth: [String] {
        var cells: [String: [Int]] = [:]
        func add(_ amounts: [Int], at instant: Int, _ stretch: RandomCustomers.Stretch) {
            let (year, month, _) = Calendar.date(of: instant)
            let key = "\(Calendar.text(Calendar.instant(year, month, 1))) \(stretch.product.name) \(stretch.currency)"
            for (place, amount) in amounts.enumerated() { cells[key, default: [0, 0, 0, 0, 0]][place] += amount }
        }
        for subscription in subscriptions {
            for (number, stretch) in subscription.stretches.enumerated() where stretch.kind != .shared {
                add([stretch.price ?? 0, 0, 0, 0, 0], at: stretch.starts, stretch)
                if let revoked = stretch.revoked, stretch.isPaid {
                    add([0, 1, stretch.price ?? 0, 0, 0], at: revoked, stretch)
                }
                if stretch.isUpgraded, let price = stretch.price, price > 0, let expires = stretch.expires,
                    number + 1 < subscription.stretches.count,
                    stretch.currency == subscription.stretches[number + 1].currency
                {
                    let upgraded = subscription.stretches[number + 1].starts
                    let length = expires - stretch.starts
                    // Rounded half up, in whole numbers.
                    add(
                        [0, 0, 0, 1, (2 * price * (expires - upgraded) + length) / (2 * length)],
                        at: upgraded,
                        stretch
                    )
                }
            }
        }
        for sale in sales {
            let key = "\(sale.product) \(sale.currency)"
            cells["\(month(of: sale.at)) \(key)", default: [0, 0, 0, 0, 0]][0] += sale.price
            if let revoked = sale.revoked, sale.price > 0 {
                cells["\(month(of: revoked)) \(key)", default: [0, 0, 0, 0, 0]][1] += 1
                cells["\(month(of: revoked)) \(key)", default: [0, 0, 0, 0, 0]][2] += sale.price
            }
        }
        return cells.map { "\($0.key) " + $0.value.map(String.init).joined(separator: " ") }
    }
}

extension CustomerModel.Movement {
    fileprivate mutating func leave(_ before: RandomCustomers.Stretch, for after: RandomCustomers.Stretch?) {
        opening += before.monthly ?? 0
        openingCount += 1
        if after == nil {
            churn += before.monthly ?? 0
            churned += 1
        } else if after?.currency != before.currency {
            switchedOut += before.monthly ?? 0
        }
    }

    fileprivate mutating func arrive(
        _ after: RandomCustomers.Stretch,
        from before: RandomCustomers.Stretch?,
        isNew: Bool
    ) {
        let monthly = after.monthly ?? 0
        closing += monthly
        closingCount += 1
        guard let before else {
            if isNew {
                new += monthly
                newCount += 1
            } else {
                reactivation += monthly
                reactivated += 1
            }
            return
        }
        let difference = monthly - (before.monthly ?? 0)
        if before.currency != after.currency {
            switchedIn += monthly
        } else if difference > 0 {
            expansion += difference
            expanded += 1
        } else if difference < 0 {
            contraction -= difference
            contracted += 1
        }
    }
}
