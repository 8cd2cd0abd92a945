import AppStoreModel
import Basics
import Hashing
import JobFiles
import JobSyntax
import Ledger
import LedgerSchema
import Postgres
import Streams

/// Plans the windows of an app-wide stream.
struct WindowPlanner {
    let plan: RunPlan
    let stream: StreamName
    let dates: RequestedDates

    private var place: KeyValuePairs<String, Cell> {
        ["app": .integer(plan.app.rawValue), "job": .text(plan.job.name), "stream": .text(stream.rawValue)]
    }

    private var filters: KeyValuePairs<String, Cell> { ["filters": .text(plan.job.queryFingerprint(for: stream))] }

    /// Plans earlier windows that are unfinished or have rejected records, and new windows from the end of the last one to now.
    func plan(into start: inout StartedRun, on connection: borrowing PostgresConnection) throws {
        let oldest = plan.oldestNotification
        try forgetFutureWindows(on: connection)
        let lastEnd = try connection.run(
            .lastWindowEnd,
            place,
            filters
        )[0].timestampOrNil("last_end").map(UnixMilliseconds.init(rawValue:))

        let span = dates.span(now: plan.now, lastRun: nil, in: plan.job.app.environment)
        var requested = span.requested
        // The first run with `startDate: lastRun` requests everything that Apple has, so nothing is missing.
        var gap = dates.startDate == .lastRun ? nil : span.unreachable
        var lost = 0
        if let lastEnd {
            let end = requested.upperBound
            gap = lastEnd < min(oldest, end) ? lastEnd..<min(oldest, end) : nil
            // A restart starts no later than the end of the last window, because later time was never requested.
            let begin = max(lastEnd - dates.overlap, oldest)
            requested = min(plan.restart ? min(begin, requested.lowerBound) : begin, end)..<end
            try addEarlierWindows(start.run, on: connection)
            lost = try recordLostWindows(start.run, on: connection)
        }
        if let gap { try recordGap(gap, run: start.run, on: connection) }
        if gap != nil || lost > 0 { start.remarks.append(ItemPlanner.gapRemark(stream)) }
        for window in NotificationWindows.slices(from: requested.lowerBound, to: requested.upperBound) {
            _ = try connection.run(
                .planWindow,
                place,
                filters,
                [
                    "item_key": .text("\(window.lowerBound.rawValue)..\(window.upperBound.rawValue)#\(filterMark)"),
                    "run": .bigint(start.run),
                    "starts_at": .timestamp(window.lowerBound.rawValue),
                    "ends_at": .timestamp(window.upperBound.rawValue),
                ]
            )
        }
        guard lastEnd != nil else { return }
        if dates.startDate == .lastRun { try planFailures(before: requested.lowerBound, start.run, on: connection) }
        try planSecondReadings(start.run, on: connection)
        try planDaysOfReceiver(start.run, on: connection)
    }

    /// Forgets windows and gaps that were planned while PostgreSQL's clock was ahead, so that this run plans their time again.
    private func forgetFutureWindows(on connection: borrowing PostgresConnection) throws {
        let found = try connection.run(
            .findFutureWindows,
            place,
            filters,
            ["latest_now": .timestamp(plan.latestNow.rawValue)]
        )
        guard try found[0].bool("is_needed") else { return }
        _ = try connection.run(
            .forgetFutureWindows,
            place,
            filters,
            ["latest_now": .timestamp(plan.latestNow.rawValue)]
        )
        _ = try connection.run(
            .forgetFutureGaps,
            place,
            [
                "oldest": .timestamp(plan.oldestNotification.rawValue),
                "latest_now": .timestamp(plan.latestNow.rawValue),
            ]
        )
    }

    /// A short hash of the filters, which is part of each window's key.
    ///
    /// A window with other filters has other notifications, so it is another item.
    private var filterMark: String {
        SHA256.digest(of: Array(plan.job.queryFingerprint(for: stream).utf8)).prefix(4).hexadecimal
    }

    /// Plans the item for failed deliveries of the last seven days, up to the start of this run's windows.
    ///
    /// The seven days are one item, because Apple returns only failures for it, usually one page. Each run moves the
    /// item's window forward. The sandbox needs no such item: Apple tries only once there, so the first
    /// reading is complete.
    private func planFailures(
        before end: UnixMilliseconds,
        _ run: Int64,
        on connection: borrowing PostgresConnection
    ) throws {
        let begin = max(plan.now - WindowReading.failuresReach, plan.oldestNotification)
        guard plan.job.app.environment == .production, begin < end else { return }
        _ = try connection.run(
            .planFailures,
            place,
            filters,
            [
                "item_key": .text(WindowReading.failuresPrefix + filterMark),
                "run": .bigint(run),
                "starts_at": .timestamp(begin.rawValue),
                "ends_at": .timestamp(end.rawValue),
            ]
        )
    }

    /// Plans one item for each closed day that is due for its second reading, once per day, filters and job.
    private func planSecondReadings(_ run: Int64, on connection: borrowing PostgresConnection) throws {
        _ = try connection.run(
            .planSecondReadings,
            place,
            filters,
            dueDaysValues,
            ["run": .bigint(run)]
        )
    }

    /// The number of closed days that a run would read again now.
    func countDueDays(on connection: borrowing PostgresConnection) throws -> Int64 {
        let due = try connection.run(.countDueDays, place, filters, dueDaysValues)[0]
        let ofReceiver = try readsEverything ? daysOfReceiver(on: connection).count : 0
        return try due.int64("days") + Int64(ofReceiver)
    }

    /// Whether the windows have all notifications of their time.
    private var readsEverything: Bool {
        AllStreams.type(of: stream)?.readsEverything(plan.job.queryFingerprint(for: stream)) == true
    }

    /// Plans one item for each closed day with received notifications that the history did not list.
    ///
    /// Some notifications enter Apple's history late, so a reconciliation decides about a missing one only after another reading.
    private func planDaysOfReceiver(_ run: Int64, on connection: borrowing PostgresConnection) throws {
        guard readsEverything else { return }
        for day in try daysOfReceiver(on: connection) {
            let itemKey = "\(day.lowerBound.rawValue)..\(day.upperBound.rawValue)#\(filterMark)"
            _ = try connection.run(
                .planDayAgain,
                place,
                filters,
                [
                    "item_key": .text(itemKey + WindowReading.againSuffix),
                    "run": .bigint(run),
                    "starts_at": .timestamp(day.lowerBound.rawValue),
                    "ends_at": .timestamp(day.upperBound.rawValue),
                ]
            )
        }
    }

    /// The closed days with received notifications that the history did not list, as far as Apple serves them.
    private func daysOfReceiver(on connection: borrowing PostgresConnection) throws -> [Range<UnixMilliseconds>] {
        try connection.run(
            """
            SELECT DISTINCT day::timestamp AT TIME ZONE 'UTC' AS day FROM notification_reconciliation
             WHERE app_id = $1 AND to_be_read_again > 0 AND day::timestamp AT TIME ZONE 'UTC' >= $2 ORDER BY 1
            """,
            [.integer(plan.app.rawValue), .timestamp(plan.oldestNotification.rawValue)]
        ).map { row in
            let begin = UnixMilliseconds(rawValue: try row.timestamp("day"))
            return begin..<(begin + .seconds(86_400))
        }
    }

    private var dueDaysValues: KeyValuePairs<String, Cell> {
        let oldest = plan.oldestNotification
        let day = Duration.seconds(86_400)
        return [
            "first_key": .text(String((oldest - day).rawValue)),
            "oldest": .timestamp(oldest.rawValue),
            "due_until": .timestamp((plan.now - WindowReading.secondReadingDelay).rawValue),
            "key_end": .text("#" + filterMark + WindowReading.secondSuffix),
        ]
    }

    /// Adds windows of earlier runs to this run.
    private func addEarlierWindows(_ run: Int64, on connection: borrowing PostgresConnection) throws {
        _ = try connection.run(
            .addEarlierWindows,
            place,
            filters,
            [
                "run": .bigint(run),
                "oldest": .timestamp(plan.oldestNotification.rawValue),
                "latest_now": .timestamp(plan.latestNow.rawValue),
            ]
        )
    }

    /// Records a gap for each unfinished window of an earlier run that Apple no longer serves.
    ///
    /// - Returns: The number of new gaps.
    private func recordLostWindows(_ run: Int64, on connection: borrowing PostgresConnection) throws -> Int {
        try connection.run(
            .recordLostWindows,
            place,
            filters,
            ["run": .bigint(run), "oldest": .timestamp(plan.oldestNotification.rawValue)]
        ).affected
    }

    private func recordGap(
        _ gap: Range<UnixMilliseconds>,
        run: Int64,
        on connection: borrowing PostgresConnection
    ) throws {
        _ = try connection.run(
            .recordWindowGap,
            place,
            [
                "starts_at": .timestamp(gap.lowerBound.rawValue),
                "ends_at": .timestamp(gap.upperBound.rawValue),
                "run": .bigint(run),
            ]
        )
    }
}
