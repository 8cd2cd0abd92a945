extension Section {
    /// Reads a date expression.
    package func date(
        _ key: String,
        allowsLastRun: Bool,
        allowsNow: Bool = true
    ) -> DateExpression? {
        let words = (allowsNow ? ", now" : "") + (allowsLastRun ? ", lastRun" : "")
        let expected =
            "it must be -Nd, -Nh\(words) or a date and time with its zone, such as 2026-01-31T00:00:00Z"
        guard let text = text(key, expected) else { return nil }
        switch (DateExpression(text), ISO8601Moment(text)) {
        case (.lastRun, _) where !allowsLastRun:
            report(key, "only notificationHistory.startDate and changedSince can be lastRun")
        case (.now, _) where !allowsNow:
            report(key, expected)
        case (let expression?, _):
            return expression
        case (nil, .withoutZone(let suggestion)):
            let isShowable = scalar(key)?.variables.isEmpty ?? false
            report(key, "a date needs its zone, such as \(isShowable ? suggestion : "2026-01-31T00:00:00Z")")
        case (nil, _):
            report(key, expected)
        }
        return nil
    }

    /// Reports dates in the wrong order, if this can be decided without a clock.
    package func checkOrder(_ start: DateExpression?, _ end: DateExpression?) {
        guard let start, let end, start.isNeverBefore(end) else { return }
        report("startDate", "it must be before endDate")
    }
}

extension Duration {
    /// A whole number of seconds, minutes, hours or days, such as `90s`, `30m`, `1h` or `2d`.
    package init?(jobText text: String) {
        let seconds: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        let digits = text.dropLast()
        guard let unit = text.last.flatMap({ seconds[$0] }), (1...6).contains(digits.utf8.count),
            digits.utf8.allSatisfy(isDigit), let count = Int64(digits)
        else { return nil }
        self = .seconds(count * unit)
    }
}

extension DateExpression {
    init?(_ text: String) {
        switch text {
        case "now": self = .now
        case "lastRun": self = .lastRun
        default:
            if case .moment(let moment) = ISO8601Moment(text) {
                self = .absolute(moment)
                return
            }
            let seconds: [Character: Int64] = ["d": 86_400, "h": 3_600]
            let digits = text.dropFirst().dropLast()
            guard text.hasPrefix("-"), let unit = text.last.flatMap({ seconds[$0] }),
                (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy(isDigit), let count = Int64(digits),
                count > 0
            else { return nil }
            self = .before(.seconds(count * unit))
        }
    }

    /// Whether this is after `other`, at any time of the run.
    package func isAfter(_ other: Self) -> Bool { self != other && isNeverBefore(other) }

    /// Whether this is at or after `other`, at any time of the run.
    fileprivate func isNeverBefore(_ other: Self) -> Bool {
        switch (self, other) {
        case (.absolute(let start), .absolute(let end)): start >= end
        case (.before(let start), .before(let end)): start <= end
        case (.now, .before), (.now, .now): true
        default: false
        }
    }
}
