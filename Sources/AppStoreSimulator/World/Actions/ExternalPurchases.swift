import AppStoreModel
import StrictJSON

/// What Apple knows of purchases outside the App Store: tokens, and the reports that it has taken.
struct ExternalPurchases: Sendable {
    /// By ID.
    private(set) var tokens: [String: SimulatedPurchaseToken] = [:]
    /// The reports as they were sent, by `requestIdentifier` in lower case.
    private(set) var reports: [String: JSONObject] = [:]
    /// The newest version of each line, by `lineItemId`.
    private(set) var lines: [String: ReportedLine] = [:]
    /// The IDs of the refunds of each line.
    private(set) var refunds: [String: Set<String>] = [:]
    /// The tokens with line items.
    private(set) var tokensWithLines: Set<String> = []

    mutating func add(_ token: SimulatedPurchaseToken) { tokens[token.id] = token }

    /// Takes a report that ``ExternalPurchaseCheck`` has accepted.
    mutating func take(_ report: JSONObject, _ id: String) {
        reports[id] = report
        let lines = ReportedLine.all(in: report)
        if let token = report["externalPurchaseId"]?.string, !lines.isEmpty { tokensWithLines.insert(token) }
        for line in lines {
            self.lines[line.id] = line
            if line.isRefund, let bought = line.text("referenceLineItemId") {
                refunds[bought, default: []].insert(line.id)
            }
        }
    }
}

/// A token of a purchase outside the App Store.
struct SimulatedPurchaseToken: Sendable, Equatable {
    let id: String
    /// `nil` for one of a notice sheet or link.
    let type: String?
    /// In milliseconds since 1970.
    let creationDate: Int64
    /// `nil` for one that does not expire.
    let expirationDate: Int64?
}

/// One line of a report, read member by member.
struct ReportedLine: Sendable, Equatable {
    let json: JSONObject

    var id: String { text("lineItemId") ?? "" }
    var isRefund: Bool { text("eventType") == "REFUND" }
    var rate: Double? { json["exchangeRate"]?.number.flatMap { Double($0.text) } }
    var isSubscription: Bool { text("productType") == "SUBSCRIPTION" }
    var isRestatement: Bool { json["restatement"]?.bool == true }
    var isErroneous: Bool { json["erroneouslySubmitted"]?.bool == true }

    func has(_ key: String) -> Bool { json[key] != nil }
    func text(_ key: String) -> String? { json[key]?.string }
    func integer(_ key: String) -> Int64? { json[key]?.number?.int64 }

    static func all(in report: JSONObject) -> [ReportedLine] {
        (report["lineItems"]?.array ?? []).compactMap(\.object).map(ReportedLine.init)
    }
}

extension World {
    /// Creates tokens of external purchases, and sends a notification about each, a millisecond apart.
    ///
    /// In turn: one of each type that Apple announces when it creates it (CREATED), one without a type that Apple misses after ten
    /// days (UNREPORTED), and one that is a month old (ACTIVE_TOKEN_REMINDER). Source: subtype, App Store Server Notifications, read 2026-11.
    ///
    /// - `date`: As in ``change(count:from:)``.
    mutating func createPurchaseTokens(count: Int, from date: Int64) -> [WorldChange] {
        (0..<count).compactMap { number in
            changeCount += 1
            now = moment(for: date)
            var random = SplitMix64(seed: parameters.seed, path: 17, UInt64(changeCount))
            let (subtype, type, days): (String, String?, Int64) =
                switch number % 4 {
                case 0: ("CREATED", "SERVICES", 0)
                case 1: ("CREATED", "ACQUISITION", 0)
                case 2: ("UNREPORTED", nil, 11)
                default: ("ACTIVE_TOKEN_REMINDER", "SERVICES", 31)
                }
            guard let kind = NotificationKind.named("EXTERNAL_PURCHASE_TOKEN", subtype) else { return nil }
            let creation = now - days * Moment.day
            let token = SimulatedPurchaseToken(
                id: (app.environment == .sandbox ? "SANDBOX_" : "") + random.uuid(),
                type: type,
                creationDate: creation,
                expirationDate: type.map { _ in creation + 365 * Moment.day }
            )
            externalPurchases.add(token)
            let notification = NotificationBuilder.notification(
                kind,
                at: now,
                content: .externalToken(token),
                in: app,
                seed: parameters.seed
            )
            return record(notification)
        }
    }
}
