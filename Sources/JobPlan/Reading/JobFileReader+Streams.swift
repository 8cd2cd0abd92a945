import AppStoreModel

extension JobFileReader {
    func streams(_ file: Section) -> JobFile.Streams? {
        let keys = Stream.allCases.map(\.rawValue)
        let expected = "it must name at least one of \(keys.joined(separator: ", "))"
        guard let section = file.section("streams", keys: keys, required: expected) else { return nil }
        if !keys.contains(where: section.has) { problems.report(section.place, "names no stream", expected) }
        let streams = JobFile.Streams(
            transactionHistory: transactionHistory(section),
            refundHistory: refundHistory(section),
            notificationHistory: notificationHistory(section)
        )
        let namesCustomers =
            section.has("transactionHistory")
            || section.has("notificationHistory") && streams.notificationHistory?.scope != .app
        if streams.refundHistory?.customers == .revoked, !namesCustomers {
            problems.report(
                section.place(of: "refundHistory"),
                "asks only customers with a revocation, and no other stream of this job says who they are",
                "add transactionHistory, or notificationHistory with scope transactions, or ask for: all"
            )
        }
        return streams
    }

    private func transactionHistory(_ streams: Section) -> HistoryStream? {
        let keys = [
            "startDate", "endDate", "productIds", "productTypes", "subscriptionGroupIdentifiers",
            "inAppOwnershipType", "revoked", "sort",
        ]
        guard let section = streams.section("transactionHistory", keys: keys) else { return nil }
        var filters = HistoryQuery()
        let productIds = section.texts("productIds", "it must be a product ID", where: isIdentifier)
        filters.productIds = sortedOnce(productIds ?? [])
        let productTypes = section.choices("productTypes", of: HistoryQuery.ProductType.self) ?? []
        filters.productTypes = HistoryQuery.ProductType.allCases.filter(productTypes.contains)
        let groups = section.texts(
            "subscriptionGroupIdentifiers",
            "it must be a subscription group identifier",
            where: isIdentifier
        )
        filters.subscriptionGroupIdentifiers = sortedOnce(groups ?? [])
        filters.inAppOwnershipType = section.choice("inAppOwnershipType", of: HistoryQuery.OwnershipType.self)
        filters.revoked = section.flag("revoked")
        filters.sort = section.choice("sort", of: HistoryQuery.Sort.self)
        let start = date(section, "startDate", allowsLastRun: false)
        let end = date(section, "endDate", allowsLastRun: false)
        checkOrder(section, start, end)
        return HistoryStream(startDate: start, endDate: end, filters: filters)
    }

    private func refundHistory(_ streams: Section) -> RefundStream? {
        guard let section = streams.section("refundHistory", keys: ["for"]) else { return nil }
        return RefundStream(customers: section.choice("for", of: RefundStream.Customers.self) ?? .all)
    }

    private func notificationHistory(_ streams: Section) -> NotificationStream? {
        let keys = [
            "scope", "startDate", "endDate", "onlyFailures", "notificationType", "notificationSubtype", "overlap",
        ]
        guard let section = streams.section("notificationHistory", keys: keys) else { return nil }
        let scope = section.choice("scope", of: NotificationStream.Scope.self) ?? .transactions
        let type = section.text("notificationType", "it must be Apple's word, such as REFUND", where: isAppleWord)
        let subtype = section.text(
            "notificationSubtype",
            "it must be Apple's word, such as VOLUNTARY",
            where: isAppleWord
        )
        if type != nil, scope == .transactions {
            section.report(
                "notificationType",
                "it needs scope: app, for Apple refuses a type together with a transaction ID (4000019)"
            )
        }
        if subtype != nil, !section.has("notificationType") {
            section.report("notificationSubtype", "it needs a notificationType beside it")
        }
        let start = date(section, "startDate", allowsLastRun: true) ?? .lastRun
        let end = date(section, "endDate", allowsLastRun: false) ?? .now
        checkOrder(section, start, end)
        return NotificationStream(
            scope: scope,
            startDate: start,
            endDate: end,
            onlyFailures: section.flag("onlyFailures") ?? false,
            notificationType: type,
            notificationSubtype: subtype,
            overlap: overlap(section) ?? NotificationStream.usualOverlap
        )
    }

    private func overlap(_ section: Section) -> Duration? {
        section.text("overlap", "it must be from 0m to 7d, such as 30m, 1h or 2d") { text in
            Duration(jobText: text).map { $0 <= NotificationStream.longestOverlap } ?? false
        }.flatMap(Duration.init(jobText:))
    }

    func date(
        _ section: Section,
        _ key: String,
        allowsLastRun: Bool,
        allowsNow: Bool = true
    ) -> DateExpression? {
        let words = (allowsNow ? ", now" : "") + (allowsLastRun ? ", lastRun" : "")
        let expected =
            "it must be -Nd, -Nh\(words) or a date and time with its zone, such as 2026-01-31T00:00:00Z"
        guard let text = section.text(key, expected) else { return nil }
        switch (DateExpression(text), ISO8601Moment(text)) {
        case (.lastRun, _) where !allowsLastRun:
            section.report(key, "only notificationHistory.startDate and changedSince can be lastRun")
        case (.now, _) where !allowsNow:
            section.report(key, expected)
        case (let expression?, _):
            return expression
        case (nil, .withoutZone(let suggestion)):
            let isShowable = section.scalar(key)?.variables.isEmpty ?? false
            section.report(key, "a date needs its zone, such as \(isShowable ? suggestion : "2026-01-31T00:00:00Z")")
        case (nil, _):
            section.report(key, expected)
        }
        return nil
    }

    /// Reports a span that ends before it begins, as far as that can be told without a clock.
    private func checkOrder(_ section: Section, _ start: DateExpression?, _ end: DateExpression?) {
        guard let start, let end, start.isNeverBefore(end) else { return }
        section.report("startDate", "it must be before endDate")
    }

    private func isAppleWord(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x41...0x5A).contains($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    /// Product IDs and group identifiers: Apple's alphabets have grown before, so only what cannot be one is refused.
    private func isIdentifier(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// A later run must send the very same query, whatever the order in the file.
    private func sortedOnce(_ values: [String]) -> [String] {
        Set(values).sorted()
    }
}

extension Duration {
    /// A whole number of seconds, minutes, hours or days, such as `90s`, `30m`, `1h` or `2d`.
    fileprivate init?(jobText text: String) {
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

    /// Whether this can be told, without a clock, to lie after `other`.
    func isAfter(_ other: Self) -> Bool { self != other && isNeverBefore(other) }

    /// Whether this can be told, without a clock, to lie at or after `other`.
    fileprivate func isNeverBefore(_ other: Self) -> Bool {
        switch (self, other) {
        case (.absolute(let start), .absolute(let end)): start >= end
        case (.before(let start), .before(let end)): start <= end
        case (.now, .before), (.now, .now): true
        default: false
        }
    }
}
