/// Counts of what happened to subscriptions, one line for each row of a view.
extension CustomerModel {
    func day(of instant: Int) -> String { Calendar.text(instant - instant % 86_400) }

    func month(of instant: Int) -> String {
        let (year, month, _) = Calendar.date(of: instant)
        return Calendar.text(Calendar.instant(year, month, 1))
    }

    /// The stretch after another one.
    private func next(_ number: Int, of subscription: RandomCustomers.Subscription) -> RandomCustomers.Stretch? {
        number + 1 < subscription.stretches.count ? subscription.stretches[number + 1] : nil
    }

    /// Whether a paid stretch is followed by another one without an interruption.
    func continues(_ number: Int, of subscription: RandomCustomers.Subscription) -> Bool {
        let stretch = subscription.stretches[number]
        guard stretch.isPaid, let served = stretch.served, let next = next(number, of: subscription) else {
            return false
        }
        return next.isPaid && next.expires != nil && next.starts <= served
    }

    /// Whether a stretch ran until its expiresDate, and the next one began later, other than by a renewal within an hour.
    private func leavesGap(_ number: Int, of subscription: RandomCustomers.Subscription) -> Bool {
        let stretch = subscription.stretches[number]
        guard let expires = stretch.expires, reachesExpiry(stretch), !stretch.isUpgraded,
            let next = next(number, of: subscription), next.starts > expires
        else { return false }
        return !(next.isRenewal && next.starts <= expires + 3_600 && stretch.graceUntil == nil)
    }

    private func reachesExpiry(_ stretch: RandomCustomers.Stretch) -> Bool {
        guard let expires = stretch.expires else { return false }
        return stretch.revoked.map { $0 >= expires } ?? true
    }

    /// Movement: day, product, storefront, new, resubscribed, expired, switched in, switched out.
    var movementByDay: [String] {
        var cells = Cells()
        for subscription in subscriptions {
            var hasPaid = false
            for (number, stretch) in subscription.stretches.enumerated() where stretch.isPaid {
                let isFirst = !hasPaid
                hasPaid = true
                guard let served = stretch.served else { continue }
                let place = "\(stretch.product.name) \(stretch.storefront)"
                let before = number > 0 ? subscription.stretches[number - 1] : nil
                let isSame = before.map { "\($0.product.name) \($0.storefront)" == place } ?? false
                if number > 0, continues(number - 1, of: subscription) {
                    cells.add("\(day(of: stretch.starts)) \(place)", [0, 0, 0, isSame ? 0 : 1, 0])
                } else {
                    cells.add("\(day(of: stretch.starts)) \(place)", [isFirst ? 1 : 0, isFirst ? 0 : 1, 0, 0, 0])
                }
                guard served <= now else { continue }
                if let next = next(number, of: subscription), continues(number, of: subscription) {
                    let stays = "\(next.product.name) \(next.storefront)" == place
                    cells.add("\(day(of: served)) \(place)", [0, 0, 0, 0, stays ? 0 : 1])
                } else {
                    cells.add("\(day(of: served)) \(place)", [0, 0, 1, 0, 0])
                }
            }
        }
        return cells.lines.filter { !$0.hasSuffix(" 0 0 0 0 0") }
    }

    /// Retention by payment: product, period, number of the payment, subscriptions, due, renewed.
    var retentionByRenewal: [String] {
        var cells = Cells()
        for subscription in subscriptions {
            var payments = 0
            for (number, stretch) in subscription.stretches.enumerated() where stretch.isPaid {
                payments += 1
                let next = next(number, of: subscription)
                let isRenewed = next.map { $0.isPaid && $0.isRenewal } ?? false || continues(number, of: subscription)
                let isDue = isRenewed || stretch.served.map { $0 <= now } ?? false
                // The period of an offer is its own length, which is unknown without an expiresDate.
                let period = stretch.kind == .introductory && stretch.expires == nil ? "" : " \(stretch.product.period)"
                cells.add("\(stretch.product.name)\(period) \(payments)", [1, isDue ? 1 : 0, isRenewed ? 1 : 0])
            }
        }
        return cells.lines
    }

    /// Renewals: month, product, renewals, those after a gap, conversions of trials.
    var renewals: [String] {
        var cells = Cells()
        for subscription in subscriptions {
            var hasPaid = false
            for (number, stretch) in subscription.stretches.enumerated() where stretch.isPaid {
                let isFirst = !hasPaid
                hasPaid = true
                guard stretch.isRenewal else { continue }
                let before = number > 0 ? subscription.stretches[number - 1] : nil
                cells.add(
                    "\(month(of: stretch.starts)) \(stretch.product.name)",
                    [
                        1, number > 0 && leavesGap(number - 1, of: subscription) ? 1 : 0,
                        isFirst && before?.kind == .trial ? 1 : 0,
                    ]
                )
            }
        }
        return cells.lines
    }

    /// Failed payments: month, product, failed, recovered, still tried, lost.
    var billingRecovery: [String] {
        var cells = Cells()
        for subscription in subscriptions {
            for (number, stretch) in subscription.stretches.enumerated() where stretch.kind != .shared {
                guard let expires = stretch.expires, expires <= now, reachesExpiry(stretch), !stretch.isUpgraded else {
                    continue
                }
                let next = next(number, of: subscription)
                let retried =
                    subscription.renewal.map { next == nil && $0.isRetried && $0.signed >= stretch.starts } ?? false
                let isLate = next?.isRenewal == true && leavesGap(number, of: subscription)
                guard stretch.graceUntil != nil || isLate || retried else { continue }
                let isRecovered = next?.isRenewal == true
                let signed = subscription.renewal?.signed ?? 0
                let isTried =
                    next == nil && stretch.revoked == nil
                    && (stretch.graceUntil.map { $0 > now } ?? false
                        || retried && max(expires, signed) + 60 * 86_400 > now)
                cells.add(
                    "\(month(of: expires)) \(stretch.product.name)",
                    [1, isRecovered ? 1 : 0, isTried ? 1 : 0, !isRecovered && !isTried ? 1 : 0]
                )
            }
        }
        return cells.lines
    }

    /// Renewals turned off and on: day, product, storefront, currency, off, off in a trial, on, on in a trial, MRR off, MRR on.
    var cancellations: [String] {
        var cells = Cells()
        for subscription in subscriptions {
            for change in subscription.switches {
                let stretch = subscription.stretches[change.stretch]
                let monthly = stretch.isPaid ? stretch.monthly ?? 0 : 0
                let off = change.isOn ? 0 : 1
                let trial = stretch.kind == .trial ? 1 : 0
                cells.add(
                    "\(day(of: change.at)) \(stretch.product.name) \(stretch.storefront) \(stretch.currency)",
                    [off, off * trial, 1 - off, (1 - off) * trial, off * monthly, (1 - off) * monthly]
                )
            }
        }
        return cells.lines
    }

    /// Requests for a refund: month, product, currency, requests, refunded, declined, pending, price, refunds and declines without a
    /// request.
    var refundRequests: [String] {
        var cells = Cells()
        for subscription in subscriptions {
            for event in subscription.refunds {
                let stretch = subscription.stretches[event.stretch]
                let key = "\(month(of: event.at)) \(stretch.product.name) \(stretch.currency)"
                let others = subscription.refunds.filter { $0.stretch == event.stretch }
                if event.kind == .asked {
                    let outcome = others.filter { $0.kind != .asked && $0.at >= event.at }.min { $0.at < $1.at }?.kind
                    cells.add(
                        key,
                        [
                            1, outcome == .refunded ? 1 : 0, outcome == .declined ? 1 : 0, outcome == nil ? 1 : 0,
                            stretch.price ?? 0, 0, 0,
                        ]
                    )
                } else if !others.contains(where: { $0.kind == .asked && $0.at <= event.at }) {
                    cells.add(key, [0, 0, 0, 0, 0, event.kind == .refunded ? 1 : 0, event.kind == .declined ? 1 : 0])
                }
            }
        }
        return cells.lines
    }

    /// Family Sharing: month, product, began, revoked.
    var familySharing: [String] {
        var cells = Cells()
        for subscription in subscriptions {
            for (number, stretch) in subscription.stretches.enumerated() where stretch.kind == .shared {
                if number == 0 { cells.add("\(month(of: stretch.starts)) \(stretch.product.name)", [1, 0]) }
                if let revoked = stretch.revoked { cells.add("\(month(of: revoked)) \(stretch.product.name)", [0, 1]) }
            }
        }
        return cells.lines
    }

    private func offer(of stretch: RandomCustomers.Stretch) -> String? {
        switch stretch.kind {
        case .trial: "free trial \(stretch.offerType)"
        case .introductory: stretch.offerType == 1 ? "introductory 1" : "offer code 3"
        case .paid, .shared: nil
        }
    }

    /// Redemptions: month, product, storefront, offer, Apple's type of the offer, redemptions.
    var offerRedemptions: [String] {
        var cells = Cells()
        for subscription in subscriptions {
            for (number, stretch) in subscription.stretches.enumerated() {
                guard let offer = offer(of: stretch) else { continue }
                if number > 0, self.offer(of: subscription.stretches[number - 1]) == offer,
                    stretch.isRenewal
                        || subscription.stretches[number - 1].served.map({ $0 >= stretch.starts }) ?? false
                {
                    continue
                }
                cells.add("\(month(of: stretch.starts)) \(stretch.product.name) \(stretch.storefront) \(offer)", [1])
            }
        }
        return cells.lines
    }

    /// Conversion: month, product, storefront, offer, Apple's type of the offer, started, converted, running, lost.
    var offerConversion: [String] {
        var cells = Cells()
        for subscription in subscriptions {
            for offer in Set(subscription.stretches.compactMap(offer)) {
                let with = subscription.stretches.indices.filter { self.offer(of: subscription.stretches[$0]) == offer }
                let first = subscription.stretches[with[0]]
                let isConverted = subscription.stretches[with[0]...].contains {
                    $0.isPaid && self.offer(of: $0) != offer
                }
                let isRunning = with.contains { subscription.stretches[$0].served.map { $0 > now } ?? false }
                cells.add(
                    "\(month(of: first.starts)) \(first.product.name) \(first.storefront) \(offer)",
                    [1, isConverted ? 1 : 0, !isConverted && isRunning ? 1 : 0, !isConverted && !isRunning ? 1 : 0]
                )
            }
        }
        return cells.lines
    }

    /// Notifications: day, type, notifications.
    var notificationsByDay: [String] {
        var cells = Cells()
        for subscription in subscriptions {
            for (number, stretch) in subscription.stretches.enumerated() {
                if stretch.graceUntil != nil, let expires = stretch.expires {
                    cells.add("\(day(of: expires)) DID_FAIL_TO_RENEW", [1])
                }
                if isExtensionNamed(number, of: subscription) {
                    cells.add("\(day(of: stretch.starts + 3_600)) RENEWAL_EXTENDED", [1])
                }
            }
            for change in subscription.switches { cells.add("\(day(of: change.at)) DID_CHANGE_RENEWAL_STATUS", [1]) }
            for event in subscription.refunds { cells.add("\(day(of: event.at)) \(event.kind.rawValue)", [1]) }
        }
        return cells.lines
    }

    private func isExtensionNamed(_ number: Int, of subscription: RandomCustomers.Subscription) -> Bool {
        subscription.stretches[number].isExtended && (subscription.id + number) % 3 > 0
    }

    /// Retention of MRR: month, currency, gross, net, MRR of an active subscription; of months with an opening MRR.
    var mrrRetention: [String] {
        movementCells.compactMap { key, move in
            // What goes on in another currency is neither lost nor kept in this one.
            let base = move.opening - move.switchedOut
            guard base > 0 else { return nil }
            let kept = base - move.churn - move.contraction
            let arpa =
                move.closingCount == 0 ? "" : " \((2 * move.closing + move.closingCount) / (2 * move.closingCount))"
            return
                "\(key) \(fraction(kept, of: base)) \(fraction(kept + move.expansion, of: base))\(arpa)"
        }
    }

    /// A share with four places, rounded half up.
    private func fraction(_ part: Int, of whole: Int) -> String {
        let tenThousandths = (20_000 * part + whole) / (2 * whole)
        let places = String(tenThousandths % 10_000)
        return "\(tenThousandths / 10_000)." + String(repeating: "0", count: 4 - places.count) + places
    }

    /// MRR in one currency: month, product, storefront, active, MRR.
    var mrrConverted: [String] {
        var cells = Cells()
        for month in months {
            for subscription in subscriptions {
                guard let running = paying(subscription, before: month.ends) else { continue }
                cells.add(
                    "\(month.name) \(running.product.name) \(running.storefront)",
                    [1, (running.monthly ?? 0) * Self.rate(running.currency, at: month.ends - 1)]
                )
            }
        }
        return cells.lines
    }

    /// Movement of MRR in one currency: month, opening, new, reactivation, expansion, contraction, churn, switched in and out, closing.
    var movementConverted: [String] {
        var cells = Cells()
        let ends = Dictionary(uniqueKeysWithValues: months.map { ($0.name, $0.ends) })
        for (key, move) in movementCells {
            let month = String(key.dropLast(4))
            let rate = Self.rate(String(key.suffix(3)), at: (ends[month] ?? now) - 1)
            let amounts = [
                move.opening, move.new, move.reactivation, move.expansion, move.contraction, move.churn,
                move.switchedIn,
                move.switchedOut, move.closing,
            ]
            cells.add(month, amounts.map { $0 * rate })
        }
        return cells.lines
    }
}

extension Calendar {
    /// An instant and a period of one unit, as PostgreSQL adds an interval.
    static func adding(_ period: String, to instant: Int) -> Int {
        let number = Int(period.dropFirst().dropLast()) ?? 0
        if period.hasSuffix("W") { return instant + number * 7 * 86_400 }
        let (year, month, day) = date(of: instant)
        let months = month - 1 + (period.hasSuffix("Y") ? 12 * number : number)
        let first = (year: year + months / 12, month: months % 12 + 1)
        let following =
            first.month == 12 ? (year: first.year + 1, month: 1) : (year: first.year, month: first.month + 1)
        let length =
            (Calendar.instant(following.year, following.month, 1) - Calendar.instant(first.year, first.month, 1))
            / 86_400
        return Calendar.instant(first.year, first.month, min(day, length)) + instant % 86_400
    }
}
