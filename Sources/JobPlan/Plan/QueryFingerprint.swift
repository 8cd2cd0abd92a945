package import AppStoreModel

extension JobFile {
    /// What shapes a stream's requests, as text: when it changes, cursors made with the old one are of no use.
    ///
    /// Independent of the order of keys and of list entries, and of when the run takes place: relative dates
    /// stand in it as they were written. Refund history has no filters, so its text never changes.
    package func queryFingerprint(for stream: Stream) -> String {
        let filters: [String: String?] =
            switch stream {
            case .transactionHistory: streams.transactionHistory?.fingerprintFilters ?? [:]
            case .refundHistory: [:]
            case .notificationHistory: streams.notificationHistory?.fingerprintFilters ?? [:]
            }
        return
            filters
            .compactMap { key, value in value.map { "\(key)=\($0)" } }
            .sorted()
            .joined(separator: "&")
    }
}

extension HistoryStream {
    fileprivate var fingerprintFilters: [String: String?] {
        [
            "startDate": startDate?.fingerprint,
            "endDate": endDate?.fingerprint,
            "productIds": list(filters.productIds),
            "productTypes": list(filters.productTypes.map(\.rawValue)),
            "subscriptionGroupIdentifiers": list(filters.subscriptionGroupIdentifiers),
            "inAppOwnershipType": filters.inAppOwnershipType?.rawValue,
            "revoked": filters.revoked.map { "\($0)" },
            // Apple's default, so writing it out changes nothing.
            "sort": filters.sort == .ascending ? nil : filters.sort?.rawValue,
        ]
    }

    private func list(_ values: [String]) -> String? {
        values.isEmpty ? nil : values.map(escaped).sorted().joined(separator: ",")
    }
}

extension NotificationStream {
    fileprivate var fingerprintFilters: [String: String?] {
        [
            "scope": scope.rawValue,
            "startDate": startDate.fingerprint,
            "endDate": endDate.fingerprint,
            "onlyFailures": onlyFailures ? "true" : nil,
            "notificationType": notificationType,
            "notificationSubtype": notificationSubtype,
        ]
    }
}

extension DateExpression {
    /// One text for one meaning: `-1d` and `-24h` are the same.
    package var fingerprint: String {
        switch self {
        case .absolute(let moment): "\(moment.rawValue)"
        case .before(let duration): "-\(duration.components.seconds)s"
        case .now: "now"
        case .lastRun: "lastRun"
        }
    }
}

/// Keeps the separators of a fingerprint out of the values in it.
private func escaped(_ value: String) -> String {
    value.utf8.map { byte in
        switch byte {
        case UInt8(ascii: "%"), UInt8(ascii: ","), UInt8(ascii: "&"), UInt8(ascii: "="):
            "%" + String(byte, radix: 16)
        default: String(UnicodeScalar(byte))
        }
    }
    .joined()
}
