import AppStoreModel

extension NotificationQuery {
    /// The request body: the same query gives the same bytes, as paging demands.
    ///
    /// Source: Get Notification History, NotificationHistoryRequest, read 2026-11.
    var jsonBody: [UInt8] {
        let members: [(String, JSONValue?)] = [
            ("startDate", .milliseconds(startDate)),
            ("endDate", .milliseconds(endDate)),
            ("notificationType", notificationType.map { .string($0) }),
            ("notificationSubtype", notificationSubtype.map { .string($0) }),
            ("transactionId", transactionId.map { .string($0.text) }),
            ("onlyFailures", onlyFailures.map { .bool($0) }),
        ]
        let written = members.compactMap { key, value in value.map { JSONObject.Member(key: key, value: $0) } }
        return JSONWriter.bytes(.object(JSONObject(written)))
    }
}

extension JSONValue {
    fileprivate static func milliseconds(_ moment: UnixMilliseconds) -> JSONValue {
        .number(JSONNumber(text: String(moment.rawValue)))
    }
}
