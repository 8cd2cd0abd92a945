/// What the views should show of customers, computed from their lives one instant after the other.
///
/// It knows no view and no row: every figure is a count or a sum over the subscriptions of what is true at an instant, or of
/// what is true at one instant and not at the one before.
struct CustomerModel {
    let subscriptions: [RandomCustomers.Subscription]
    let sales: [RandomCustomers.Sale]
    /// The instant as of which the views were made.
    let now: Int

    /// A month, or a day, by its first and its last instant.
    struct Span {
        let name: String
        let begins: Int
        /// The end, or now in the span that is under way: what begins in this instant belongs to the next.
        let ends: Int
        let isOver: Bool
    }

    /// The stretch that a subscription is in, just before an instant.
    func running(_ subscription: RandomCustomers.Subscription, before instant: Int) -> RandomCustomers.Stretch? {
        for stretch in subscription.stretches.reversed() where stretch.starts < instant {
            guard let served = stretch.served, served >= instant else { continue }
            return stretch
        }
        return nil
    }

    /// The same, for paid stretches alone.
    func paying(_ subscription: RandomCustomers.Subscription, before instant: Int) -> RandomCustomers.Stretch? {
        guard let stretch = running(subscription, before: instant), stretch.isPaid else { return nil }
        return stretch
    }

    var firstInstant: Int { (subscriptions.map { $0.stretches[0].starts } + sales.map(\.at)).min() ?? now }

    /// Every month from the month of the first purchase to the current one.
    var months: [Span] {
        var spans: [Span] = []
        var (year, month, _) = Calendar.date(of: firstInstant)
        while Calendar.instant(year, month, 1) < now {
            let begins = Calendar.instant(year, month, 1)
            let name = Calendar.text(begins)
            (year, month) = month == 12 ? (year + 1, 1) : (year, month + 1)
            let ends = Calendar.instant(year, month, 1)
            spans.append(Span(name: name, begins: begins, ends: min(ends, now), isOver: ends < now))
        }
        return spans
    }

    var days: [Span] {
        let day = 86_400
        return stride(from: firstInstant - firstInstant % day, to: now, by: day).map {
            Span(name: Calendar.text($0), begins: $0, ends: min($0 + day, now), isOver: $0 + day < now)
        }
    }
}

/// The Gregorian calendar in UTC.
enum Calendar {
    static func instant(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return (era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468) * 86_400
    }

    static func date(of instant: Int) -> (year: Int, month: Int, day: Int) {
        let days = instant / 86_400 + 719_468
        let era = days / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * part + 2) / 5 + 1)
    }

    static func text(_ instant: Int) -> String {
        let (year, month, day) = date(of: instant)
        return "\(year)-\(month < 10 ? "0" : "")\(month)-\(day < 10 ? "0" : "")\(day)"
    }
}
