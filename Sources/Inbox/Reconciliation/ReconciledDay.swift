/// What a reconciliation found on one closed UTC day; its JSON form is stable and documented in `docs/reference/json.md`.
package struct ReconciledDay: Codable, Sendable, Equatable {
    /// The result for a day, the worst one that applies.
    package enum State: String, Codable, Sendable {
        /// Every notification was received, or Apple could not deliver it.
        case clean
        /// Received notifications are not in the history; the next run reads the day again.
        case toBeReadAgain
        /// Received notifications are not in the history, and Apple no longer serves the day.
        case unprovable
        /// No run has read the whole day; nothing was compared.
        case notRead
        /// Received notifications are not in the history, even after the day was read again.
        case unexplained
        /// Notifications that were answered with success are not in the ledger of the receiver.
        case missing
    }

    /// A date such as `2026-11-24`.
    package let day: String
    package let state: State
    /// By name.
    package let types: [ReconciledType]

    init(day: String, types: [ReconciledType]) {
        self.day = day
        self.types = types
        func has(_ count: KeyPath<ReconciledType, Int64>) -> Bool { types.contains { $0[keyPath: count] > 0 } }
        state =
            if has(\.answeredButMissing) {
                .missing
            } else if has(\.unexplained) {
                .unexplained
            } else if has(\.unprovable) {
                .unprovable
            } else if has(\.toBeReadAgain) {
                .toBeReadAgain
            } else {
                .clean
            }
    }

    /// A day that no run has read.
    init(notRead day: String) {
        self.day = day
        state = .notRead
        types = []
    }

    /// The sum of a count over all types.
    package func sum(_ count: KeyPath<ReconciledType, Int64>) -> Int64 {
        types.reduce(0) { $0 + $1[keyPath: count] }
    }
}

/// The notifications of one type and day; the columns of `notification_reconciliation`.
package struct ReconciledType: Codable, Sendable, Equatable {
    package let notificationType: String
    package let received: Int64
    package let inHistory: Int64
    package let receivedAndInHistory: Int64
    package let recovered: Int64
    /// The number of recovered notifications by Apple's result of the last attempt to deliver them.
    package let recoveredByResult: [String: Int64]
    package let answeredButMissing: Int64
    package let toBeReadAgain: Int64
    package let unexplained: Int64
    package let unprovable: Int64
    /// The notificationUUID of one that was answered with success and is missing.
    package let missingExample: String?
    /// The notificationUUID of one that was received and is not in the history.
    package let notListedExample: String?
}

/// The result of a reconciliation; its JSON form is stable and documented in `docs/reference/json.md`.
package struct Reconciliation: Codable, Sendable, Equatable {
    package let app: String
    package let environment: String
    /// When the days were checked, ISO 8601 UTC.
    package let checkedAt: String
    /// The days that can still change, the oldest first.
    package let days: [ReconciledDay]

    /// Whether a notification was lost, or is not in the history although its day was read again.
    package var hasFindings: Bool { days.contains { [.missing, .unexplained].contains($0.state) } }

    /// The days that no run has read.
    package var notRead: [String] { days.filter { $0.state == .notRead }.map(\.day) }
}
