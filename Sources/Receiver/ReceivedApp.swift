package import AppStoreModel
package import Ledger
package import LedgerSchema

/// An app in one environment whose notifications a receiver takes.
package struct ReceivedApp: Sendable {
    /// The path to which they are posted; several apps can have the same.
    let path: String
    let verifier: NotificationVerifier
    let ledger: Ledger
    let origin: RowOrigin
    let records: @Sendable ([String], UnixMilliseconds) -> PageRows
    let readAgain: @Sendable () async -> Void

    /// The labels of the app in Prometheus's format.
    ///
    /// A bundle ID has no character that the format escapes.
    var labels: String { "app=\"\(verifier.bundleId)\",environment=\"\(verifier.environment.rawValue)\"" }

    /// - Parameters:
    ///   - path: The path to which its notifications are posted.
    ///   - verifier: Decides which notifications are accepted.
    ///   - ledger: Open, with a schema that this version supports.
    ///   - origin: Stored with the records.
    ///   - records: Verifies and normalises signed texts that were accepted and signed until a moment.
    ///   - readAgain: Called regularly, to read again what may have changed since the start.
    package init(
        path: String,
        verifier: NotificationVerifier,
        ledger: Ledger,
        origin: RowOrigin,
        records: @escaping @Sendable ([String], UnixMilliseconds) -> PageRows,
        readAgain: @escaping @Sendable () async -> Void
    ) {
        self.path = path
        self.verifier = verifier
        self.ledger = ledger
        self.origin = origin
        self.records = records
        self.readAgain = readAgain
    }
}
