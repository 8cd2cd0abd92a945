package import AppStoreModel
package import Basics
import FoundationEssentials
import Ledger
package import LedgerSchema
import Postgres
import Streams
import StrictJSON

/// The receiver has never stored a notification, so there is nothing to compare.
package struct NothingReceived: ExplainedError {
    package init() {}

    package var status: ExitStatus { .configuration }

    package var sentence: String {
        "the receiver has not stored a notification of the app yet, so there is nothing to compare; start storeledger receive JOB, and request a test notification"
    }
}

extension Ledger {
    /// How long after its end the result of a day can change: Apple's retries, the last reading of the day, and a day for it.
    private static let settledAfter = WindowReading.secondReadingDelay + .seconds(86_400)

    /// Types of which Apple does not say that its history has them.
    ///
    /// Source: Get Notification History, read 2026-11.
    private static let unlistedTypes = ["TEST"]

    /// Compares the received notifications of closed days with Apple's history, and stores the result.
    ///
    /// It reads only the ledger: runs have read the history. Each day is a separate transaction.
    ///
    /// - Parameters:
    ///   - isFinal: Whether notifications that are not in the history count as unexplained at once.
    ///   - now: The moment until which days are closed; the time of the check.
    /// - Returns: The days that were checked and have notifications, and the days that no run has read.
    /// - Throws: ``NothingReceived``, ``Postgres/PostgresError``.
    package func reconcile(
        app: AppID,
        bundleId: String,
        environment: AppStoreEnvironment,
        isFinal: Bool,
        now: UnixMilliseconds
    ) async throws -> Reconciliation {
        let oldest = environment.oldestNotification(at: now)
        var days: [ReconciledDay] = []
        for day in try await daysToReconcile(app: app, oldest: oldest, now: now) {
            try Task.checkCancellation()
            guard day.isRead || !day.isServed else {
                days.append(ReconciledDay(notRead: day.day))
                continue
            }
            let types = try await reconcile(day, app: app, isFinal: isFinal, now: now)
            if !types.isEmpty { days.append(ReconciledDay(day: day.day, types: types)) }
        }
        return Reconciliation(
            app: bundleId,
            environment: environment.rawValue,
            checkedAt: Date(timeIntervalSince1970: Double(now.rawValue / 1_000)).ISO8601Format(),
            days: days
        )
    }

    /// A closed day that has to be checked; see `reconciliation_days.sql`.
    private struct DayToReconcile: Sendable {
        let day: String
        let startsAt: Int64
        let endsAt: Int64
        let isRead: Bool
        let isServed: Bool
        let readAgainAt: Int64?
    }

    private func daysToReconcile(
        app: AppID,
        oldest: UnixMilliseconds,
        now: UnixMilliseconds
    ) async throws -> [DayToReconcile] {
        let stream = AllStreams.changedCustomersStream
        return try await transaction(.readOnlySnapshot) { connection in
            try connection.script(Self.defaultPlanner)
            let received = try connection.run(
                "SELECT EXISTS (SELECT FROM received_notifications WHERE app_id = $1 AND version = 2 AND refused_because IS NULL) AS any",
                [.integer(app.rawValue)]
            )
            guard try received[0].bool("any") else { throw NothingReceived() }
            let queries = try connection.run(
                """
                SELECT DISTINCT i.fingerprint FROM (SELECT DISTINCT job FROM runs WHERE app_id = $1) j
                  JOIN crawl_items i ON i.app_id = $1 AND i.job = j.job AND i.stream = $2 AND i.item_key LIKE '%..%'
                """,
                [.integer(app.rawValue), .text(stream.name.rawValue)]
            ).map { try $0.text("fingerprint") }
            return try connection.run(
                .reconciliationDays,
                [
                    "app": .integer(app.rawValue),
                    "stream": .text(stream.name.rawValue),
                    "queries": .textArray(queries.filter { stream.readsEverything($0) }),
                    "now": .timestamp(now.rawValue),
                    "oldest": .timestamp(oldest.rawValue),
                    "settled_after": .bigint(Self.settledAfter.wholeMilliseconds),
                ]
            ).map { row in
                DayToReconcile(
                    day: try row.text("day"),
                    startsAt: try row.timestamp("starts_at"),
                    endsAt: try row.timestamp("ends_at"),
                    isRead: try row.bool("is_read"),
                    isServed: try row.bool("is_served"),
                    readAgainAt: try row.timestampOrNil("read_again_at")
                )
            }
        }
    }

    private func reconcile(
        _ day: DayToReconcile,
        app: AppID,
        isFinal: Bool,
        now: UnixMilliseconds
    ) async throws -> [ReconciledType] {
        try await transaction { connection in
            try connection.script(Self.defaultPlanner)
            return try connection.run(
                .reconcileDay,
                [
                    "app": .integer(app.rawValue),
                    "day": .text(day.day),
                    "starts_at": .timestamp(day.startsAt),
                    "ends_at": .timestamp(day.endsAt),
                    "now": .timestamp(now.rawValue),
                    "is_served": .boolean(day.isServed),
                    "read_again_at": day.readAgainAt.map(Cell.timestamp) ?? .null,
                    "is_final": .boolean(isFinal),
                    "unlisted_types": .textArray(Self.unlistedTypes),
                ]
            ).map { try ReconciledType($0) }
        }
    }
}

extension ReconciledType {
    fileprivate init(_ row: PostgresRow) throws {
        notificationType = try row.text("notification_type")
        received = try row.int64("received")
        inHistory = try row.int64("in_history")
        receivedAndInHistory = try row.int64("received_and_in_history")
        recovered = try row.int64("recovered")
        let results = try StrictJSON.parseObject(Array(try row.text("by_result").utf8))
        recoveredByResult = Dictionary(
            uniqueKeysWithValues: results.members.map { ($0.key, $0.value.number?.int64 ?? 0) }
        )
        answeredButMissing = try row.int64("answered_but_missing")
        toBeReadAgain = try row.int64("to_be_read_again")
        unexplained = try row.int64("unexplained")
        unprovable = try row.int64("unprovable")
        missingExample = try row.textOrNil("lost_example")
        notListedExample = try row.textOrNil("not_listed_example")
    }
}
