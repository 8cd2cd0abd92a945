import FoundationEssentials
import LedgerSchema
import Postgres

extension JobStatus {
    /// The receiver of notifications: how fast notifications become rows, and whether any was missed.
    package struct Receiver: Codable, Sendable, Equatable {
        /// When a notification was last received.
        package let lastReceivedAt: String
        /// The notifications of version 2 that were first received in the last day and are stored as records.
        package let storedLastDay: Int64
        /// From Apple's signature to the row, for these notifications; `nil` without one.
        package let medianSecondsToRow: Double?
        package let worstSecondsToRow: Double?
        /// The last day that was compared with Apple's history, such as `2026-11-24`; `nil` before the first.
        package let reconciledDay: String?
        /// What `reconcile` found for the days that can still change, and one more: nine days.
        package let reconciled: Reconciled
    }

    /// Sums over days and types of `notification_reconciliation`.
    package struct Reconciled: Codable, Sendable, Equatable {
        package let receivedAndInHistory: Int64
        package let recovered: Int64
        package let answeredButMissing: Int64
        package let toBeReadAgain: Int64
        package let unexplained: Int64
        package let unprovable: Int64
    }
}

extension Ledger {
    /// How many days of reconciliations `status` and the metrics sum: those that can still change, and one more.
    private static let reportedDays: Int32 = 9

    /// - Returns: `nil` if nothing was ever received.
    static func receiver(_ app: Cell, _ connection: borrowing PostgresConnection) throws -> JobStatus.Receiver? {
        let row = try connection.run(.receiverStatus, ["app": app, "days": .integer(reportedDays)])[0]
        guard let last = try row.timestampOrNil("last_at") else { return nil }
        return JobStatus.Receiver(
            lastReceivedAt: Date(timeIntervalSince1970: Double(last / 1_000)).ISO8601Format(),
            storedLastDay: try row.int64("notifications"),
            medianSecondsToRow: try row.textOrNil("median").flatMap(Double.init),
            worstSecondsToRow: try row.textOrNil("worst").flatMap(Double.init),
            reconciledDay: try row.textOrNil("last_day"),
            reconciled: JobStatus.Reconciled(
                receivedAndInHistory: try row.int64("received_and_in_history"),
                recovered: try row.int64("recovered"),
                answeredButMissing: try row.int64("answered_but_missing"),
                toBeReadAgain: try row.int64("to_be_read_again"),
                unexplained: try row.int64("unexplained"),
                unprovable: try row.int64("unprovable")
            )
        )
    }
}
