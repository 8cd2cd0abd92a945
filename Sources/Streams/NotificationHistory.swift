package import AppStoreModel
package import JobSyntax
package import LedgerSchema
import StrictJSON

/// Get Notification History: the notifications that Apple sent to the developer's server, and the delivery attempts.
package struct NotificationHistory: AppStoreStream {
    package enum Scope: String, CaseIterable, Sendable {
        /// One crawl for each transaction ID.
        case transactions
        /// The whole app, in windows of at most a day.
        case app
    }

    package let scope: Scope
    /// From `lastRun` to `now` unless the job file names other dates.
    package let requestedDates: RequestedDates
    package let onlyFailures: Bool
    /// Only with ``Scope/app``: Apple refuses a type together with a transaction ID (4000019).
    package let notificationType: String?
    /// Only together with ``notificationType``.
    package let notificationSubtype: String?

    // MARK: The call

    package static let name = StreamName.notificationHistory
    package static let requestsPerSecond = 50.0
    package static let errorEffects =
        [AppleErrorCode: ErrorEffect].ofEveryStream + .ofTransactionIDs + .ofPages + [
            .startDateTooFarInPast: .shortensWindow
        ]

    package func request(for item: WorkItem, now: UnixMilliseconds) -> AppStoreRequest? {
        guard let window = item.window else { return nil }
        var query = NotificationQuery(startDate: window.lowerBound, endDate: window.upperBound)
        query.transactionId = TransactionID(item.key)
        query.notificationType = notificationType
        query.notificationSubtype = notificationSubtype
        query.onlyFailures = onlyFailures || item.reading == .failures ? true : nil
        return Self.request(query, paginationToken: item.cursor)
    }

    private static func request(_ query: NotificationQuery, paginationToken: String?) -> AppStoreRequest {
        .post("/inApps/v1/notifications/history", [("paginationToken", paginationToken)], body: query.jsonBody)
    }

    package static func page(_ body: [UInt8]) throws(RequestFailure) -> Page {
        try PageDecoder.page(
            body,
            cursor: "paginationToken",
            records: "notificationHistory",
            read: PageDecoder.notification
        )
    }

    /// The first page of all notifications that Apple still has, because their payloads name the app.
    package static func probe(at now: UnixMilliseconds, in environment: AppStoreEnvironment) -> AppStoreRequest? {
        let query = NotificationQuery(startDate: environment.oldestNotification(at: now), endDate: now)
        return request(query, paginationToken: nil)
    }

    // MARK: The section of the job file

    package static let keys = [
        "scope", "startDate", "endDate", "onlyFailures", "notificationType", "notificationSubtype", "overlap",
    ]

    package init(_ section: Section) {
        scope = section.choice("scope", of: Scope.self) ?? .transactions
        notificationType = section.text(
            "notificationType",
            "it must be one of Apple's types, such as REFUND",
            where: Self.isTypeName
        )
        notificationSubtype = section.text(
            "notificationSubtype",
            "it must be one of Apple's subtypes, such as VOLUNTARY",
            where: Self.isTypeName
        )
        if notificationType != nil, scope == .transactions {
            section.report(
                "notificationType",
                "it needs scope: app, because Apple refuses a type together with a transaction ID (4000019)"
            )
        }
        if notificationSubtype != nil, !section.has("notificationType") {
            section.report("notificationSubtype", "it also needs a notificationType")
        }
        let start = section.date("startDate", allowsLastRun: true) ?? .lastRun
        let end = section.date("endDate", allowsLastRun: false) ?? .now
        section.checkOrder(start, end)
        onlyFailures = section.flag("onlyFailures") ?? false
        let overlap = section.text("overlap", "it must be from 0m to 7d, such as 30m, 1h or 2d") { text in
            Duration(jobText: text).map { $0 <= RequestedDates.longestOverlap } ?? false
        }
        requestedDates = RequestedDates(
            startDate: start,
            endDate: end,
            overlap: overlap.flatMap(Duration.init(jobText:)) ?? RequestedDates.defaultOverlap
        )
    }

    private static func isTypeName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x41...0x5A).contains($0) || isDigit($0) || $0 == UInt8(ascii: "_") }
    }

    package func advice(forChangesSince since: DateExpression) -> [String] {
        var advice: [String] = []
        if onlyFailures || notificationType != nil || requestedDates.endDate != .now {
            advice.append(
                "notificationHistory must request all notifications: remove onlyFailures, notificationType and endDate"
            )
        }
        if requestedDates.startDate.isAfter(since) {
            advice.append("notificationHistory.startDate must be lastRun, or not later than changedSince")
        }
        return advice
    }

    package var filters: [String: String?] {
        [
            "scope": scope.rawValue,
            "startDate": requestedDates.startDate.fingerprint,
            "endDate": requestedDates.endDate.fingerprint,
            "onlyFailures": onlyFailures ? "true" : nil,
            "notificationType": notificationType,
            "notificationSubtype": notificationSubtype,
        ]
    }

    package static func readsEverything(_ query: String) -> Bool {
        let filters = query.split(separator: "&").compactMap { $0.split(separator: "=").first }
        return query.contains("scope=\(Scope.app.rawValue)")
            && filters.allSatisfy { ["scope", "startDate", "endDate"].contains($0) }
    }

    package static let linesOfNewJob = [
        "# Each run starts an hour before the end of the last one: some notifications enter Apple's history late.",
        "notificationHistory: {scope: app, startDate: lastRun, endDate: now, overlap: 1h}",
    ]

    // MARK: The items and their records

    package var items: ItemSource { scope == .app ? .windows : .listedIDs }
    package static let needsNoTransactionIDs: String? = "with scope \(Scope.app.rawValue)"
    package var dates: RequestedDates? { requestedDates }
    package static let replayedKind: RecordKind? = .notification
    package static let namesChangedCustomers = true
}

extension StreamName {
    package static let notificationHistory = StreamName("notificationHistory")
}

extension NotificationQuery {
    /// The request body.
    ///
    /// The same query always gives the same bytes, because paging requires it.
    ///
    /// Source: Get Notification History, NotificationHistoryRequest, read 2026-11.
    fileprivate var jsonBody: [UInt8] {
        let members: [(String, JSONValue?)] = [
            ("startDate", .milliseconds(startDate)),
            ("endDate", .milliseconds(endDate)),
            ("notificationType", notificationType.map { .string($0) }),
            ("notificationSubtype", notificationSubtype.map { .string($0) }),
            ("transactionId", transactionId.map { .string($0.text) }),
            ("onlyFailures", onlyFailures.map { .bool($0) }),
        ]
        let present = members.compactMap { key, value in value.map { JSONObject.Member(key: key, value: $0) } }
        return JSONWriter.bytes(.object(JSONObject(present)))
    }
}

extension JSONValue {
    fileprivate static func milliseconds(_ moment: UnixMilliseconds) -> JSONValue {
        .number(JSONNumber(text: String(moment.rawValue)))
    }
}
