import Basics
import Postgres

extension JobStatus {
    /// The receiver of notifications: how fast notifications become rows, and whether any was missed.
    package struct Receiver: StatusPart, Equatable {
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

        static let key: String? = "receiver"
        static let words: KeyValuePairs = ["receiver": "received notifications"]
        static let tables = ["received_notifications", "notification_completeness_by_day"]

        static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self? {
            try read(context.appKey, connection)
        }

        /// - Returns: `nil` if nothing was ever received.
        static func read(_ app: Cell, _ connection: borrowing PostgresConnection) throws -> Self? {
            let statement = SQLStatement.receiverStatus
            return try connection.value(statement.text, statement.cells(["app": app, "days": .integer(9)]))
        }

        func lines(in status: JobStatus) -> [String] { lines }

        /// The lines of the text, with `JOB` in place of the job file.
        package var lines: [String] {
            ["  received: the last notification at \(lastReceivedAt)"] + delay + [reconciliation]
        }

        private var delay: [String] {
            guard let median = medianSecondsToRow, let worst = worstSecondsToRow else { return [] }
            return [
                "    \(counted(storedLastDay, "notification")) of the last day; from Apple's signature to the row: median "
                    + "\(median) s, worst \(worst) s"
            ]
        }

        private var reconciliation: String {
            guard let reconciledDay else {
                return "    not compared with Apple's history yet; run: storeledger reconcile JOB"
            }
            let counts = [
                (reconciled.recovered, "recovered by the crawl"),
                (reconciled.answeredButMissing, "answered but missing"), (reconciled.toBeReadAgain, "to be read again"),
                (reconciled.unexplained, "unexplained"), (reconciled.unprovable, "unprovable"),
            ].filter { $0.0 > 0 }.map { ", \($0.0) \($0.1)" }.joined()
            let both = "\(reconciled.receivedAndInHistory) received and in the history"
            return "    reconciled until \(reconciledDay): \(both)\(counts)"
        }
    }

    package var receiver: Receiver? { self[Receiver.self] }

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
