package import AppStoreModel
import Inbox
package import JobFiles
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
    /// The servers to which its notifications are forwarded.
    let destinations: [Forward]

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
    ///   - forwards: The servers of the job; servers for the other environment are left out.
    package init(
        path: String,
        verifier: NotificationVerifier,
        ledger: Ledger,
        origin: RowOrigin,
        records: @escaping @Sendable ([String], UnixMilliseconds) -> PageRows,
        readAgain: @escaping @Sendable () async -> Void,
        forwards: [Forward] = []
    ) {
        self.path = path
        self.verifier = verifier
        self.ledger = ledger
        self.origin = origin
        self.records = records
        self.readAgain = readAgain
        destinations = forwards.filter { $0.environment.map { $0 == verifier.environment } ?? true }
    }

    /// Whether a stored notification is forwarded.
    ///
    /// A notification of version 1 is not: it has the app's shared secret and a receipt, which the ledger never stores.
    func forwards(_ notification: ReceivedNotification) -> Bool { !destinations.isEmpty && notification.version == 2 }
}
