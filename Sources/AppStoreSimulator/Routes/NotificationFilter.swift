import AppStoreModel

/// The body of one Get Notification History request, checked as the documentation says.
struct NotificationFilter: Sendable {
    let query: NotificationQuery

    /// - Parameters:
    ///   - body: The request's JSON; members the documentation does not name are ignored.
    ///   - earliest: How far back this environment reaches.
    /// - Throws: ``APIError`` with the code of the first member that is not valid.
    init(body: [UInt8], earliest: UnixMilliseconds) throws(APIError) {
        guard let document = Self.object(body) else { throw .badRequest }
        let start = try Self.moment(document["startDate"], or: .startDate)
        let end = try Self.moment(document["endDate"], or: .endDate)
        guard start >= earliest else { throw .startDateTooFarInPast }
        guard start < end else { throw .startDateAfterEndDate }
        var query = NotificationQuery(startDate: start, endDate: end)
        if let value = document["transactionId"] {
            guard let id = value.string.flatMap({ TransactionID($0) }) else { throw .transactionId }
            query.transactionId = id
        }
        query.notificationType = try Self.word(document["notificationType"], of: NotificationKind.types)
        query.notificationSubtype = try Self.word(document["notificationSubtype"], of: NotificationKind.subtypes)
        guard query.notificationSubtype == nil || query.notificationType != nil else { throw .notificationType }
        guard query.transactionId == nil || query.notificationType == nil else { throw .multipleFilters }
        if let value = document["onlyFailures"] {
            guard let flag = value.bool else { throw .badRequest }
            query.onlyFailures = flag
        }
        self.query = query
    }

    /// Everything that must stay the same from page to page, in one text.
    var text: String {
        [
            String(query.startDate.rawValue),
            String(query.endDate.rawValue),
            query.transactionId?.text ?? "",
            query.notificationType ?? "",
            query.notificationSubtype ?? "",
            query.onlyFailures.map { String($0) } ?? "",
        ].joined(separator: "\u{2}")
    }

    /// From `startDate` on, and before `endDate`; of those that the history lists at the moment `now`.
    ///
    /// - `now`: Milliseconds since 1970.
    func admits(_ notification: Notification, at now: Int64) -> Bool {
        guard notification.visibleFrom <= now else { return false }
        guard notification.date >= query.startDate.rawValue, notification.date < query.endDate.rawValue else {
            return false
        }
        if let type = query.notificationType, type != notification.kind.type { return false }
        if let subtype = query.notificationSubtype, subtype != notification.kind.subtype { return false }
        return query.onlyFailures != true || !notification.isDelivered(by: now)
    }

    private static func object(_ body: [UInt8]) -> JSONObject? {
        // What is wrong with a client's JSON does not matter here: Apple answers all of it alike.
        (try? StrictJSON.parse(body))?.object
    }

    private static func moment(_ value: JSONValue?, or error: APIError) throws(APIError) -> UnixMilliseconds {
        guard case .number(let number) = value, let moment = Int64(number.text), moment >= 0 else { throw error }
        return UnixMilliseconds(rawValue: moment)
    }

    private static func word(_ value: JSONValue?, of words: Set<String>) throws(APIError) -> String? {
        guard let value else { return nil }
        guard let word = value.string, words.contains(word) else { throw .notificationType }
        return word
    }
}
