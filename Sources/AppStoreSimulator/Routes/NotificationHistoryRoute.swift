import AppStoreModel
import StrictJSON

extension Route {
    /// Get Notification History: the notifications of the app or of one customer within a span of time.
    static let notificationHistory = Route(
        "notificationHistory",
        .post,
        "/inApps/v1/notifications/history",
        requestsPerSecond: 50
    ) { request, context throws(APIError) in
        let query = try request.query
        let world = context.world
        let now = context.now.rawValue
        let filter = try NotificationFilter(
            body: request.body,
            earliest: context.now - world.app.environment.notificationReach
        )
        var customer: Int?
        if let id = filter.query.transactionId {
            customer = world.customer(owning: id)
            guard customer != nil else { throw .transactionNotFound }
        }
        let style = Paging.Style.paginationToken
        let binding = CursorCodec.Binding(text: "notifications\u{2}\(filter.text)")
        let requestCursor = query[style.cursorName]
        var place = world.firstPlace(from: filter.query.startDate.rawValue)
        if let requestCursor {
            guard let cursor = context.cursors.decode(requestCursor, boundTo: binding) else { throw .paginationToken }
            if let lifetime = context.tokenLifetime,
                UnixMilliseconds(rawValue: cursor.issued) + lifetime < context.now
            {
                throw .paginationTokenExpired
            }
            place = Int(cursor.position.number)
        }
        let found = world.notifications(
            of: customer,
            from: place,
            limit: SimulatedAnswer.pageSize + 1,
            where: { filter.matches($0, at: now) }
        )
        let shown = found.prefix(SimulatedAnswer.pageSize)
        // The attempts made until the answer are next to each JWS, unsigned.
        let attempts = shown.map { $0.notification.attempts(until: now).json }
        return SimulatedAnswer(
            records: shown.map { .notification($0.notification, in: world.app) },
            paging: Paging(
                style: style,
                requestCursor: requestCursor,
                position: CursorPosition(date: 0, number: UInt64(shown.last.map { $0.place + 1 } ?? place)),
                binding: binding,
                issued: now,
                hasMore: found.count > shown.count
            )
        ) { signed, json in
            json.member("notificationHistory", objects: zip(signed, attempts)) { item, json in
                json.member("signedPayload", item.0)
                json.member("sendAttempts", raw: item.1)
            }
        }
    }
}

/// The body of one Get Notification History request, checked as the documentation says.
private struct NotificationFilter: Sendable {
    let query: NotificationQuery

    /// - Parameters:
    ///   - body: The request's JSON; members the documentation does not name are ignored.
    ///   - earliest: The earliest `startDate` that the environment allows.
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

    /// All filters in one text, which the cursor is bound to: they must stay the same from page to page.
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

    /// Whether the history lists the notification at the moment `now` and it passes every filter.
    ///
    /// Its date must be at or after `startDate` and before `endDate`.
    ///
    /// - `now`: Milliseconds since 1970.
    func matches(_ notification: Notification, at now: Int64) -> Bool {
        guard notification.visibleFrom <= now else { return false }
        guard notification.date >= query.startDate.rawValue, notification.date < query.endDate.rawValue else {
            return false
        }
        if let type = query.notificationType, type != notification.kind.type { return false }
        if let subtype = query.notificationSubtype, subtype != notification.kind.subtype { return false }
        return query.onlyFailures != true || !notification.isDelivered(by: now)
    }

    private static func object(_ body: [UInt8]) -> JSONObject? {
        // Apple gives the same answer for every kind of invalid JSON.
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
