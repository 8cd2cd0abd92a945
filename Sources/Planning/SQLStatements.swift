import Ledger
import Postgres
import Streams

/// The statements in `Sources/Planning/SQL`; each file says what it does and what its parameters mean.
extension SQLStatement {
    static let addEarlierWindows = SQLStatement(file: PackageResources.add_earlier_windows_sql, parts: parts)
    static let changedCustomers = SQLStatement(file: PackageResources.changed_customers_sql)
    static let countDueDays = SQLStatement(file: PackageResources.count_due_days_sql, parts: parts)
    static let countItemsLeft = SQLStatement(file: PackageResources.count_items_left_sql)
    static let endNotifications = SQLStatement(file: PackageResources.end_notifications_sql, parts: parts)
    static let endPlanning = SQLStatement(file: PackageResources.end_planning_sql)
    static let findFutureWindows = SQLStatement(file: PackageResources.find_future_windows_sql, parts: parts)
    static let forgetCompleteness = SQLStatement(file: PackageResources.forget_completeness_sql, parts: parts)
    static let forgetFollowed = SQLStatement(file: PackageResources.forget_followed_sql, parts: parts)
    static let forgetFutureGaps = SQLStatement(file: PackageResources.forget_future_gaps_sql, parts: parts)
    static let forgetFutureWindows = SQLStatement(file: PackageResources.forget_future_windows_sql, parts: parts)
    static let groupsDue = SQLStatement(file: PackageResources.groups_due_sql)
    static let insertItems = SQLStatement(file: PackageResources.insert_items_sql, parts: parts)
    static let insertRun = SQLStatement(file: PackageResources.insert_run_sql)
    static let keepFinished = SQLStatement(file: PackageResources.keep_finished_sql, parts: parts)
    static let lastWindowEnd = SQLStatement(file: PackageResources.last_window_end_sql)
    static let lockedOpenRun = SQLStatement(
        file: PackageResources.open_run_sql,
        parts: parts.merging(["lock": Array("FOR UPDATE".utf8)]) { $1 }
    )
    static let markRefunded = SQLStatement(file: PackageResources.mark_refunded_sql)
    static let noteFilters = SQLStatement(file: PackageResources.note_filters_sql)
    static let openRun = SQLStatement(file: PackageResources.open_run_sql, parts: parts.merging(["lock": []]) { $1 })
    static let otherJobFile = SQLStatement(file: PackageResources.other_job_file_sql)
    static let planDayAgain = SQLStatement(file: PackageResources.plan_day_again_sql, parts: parts)
    static let planFailures = SQLStatement(file: PackageResources.plan_failures_sql, parts: parts)
    static let planSecondReadings = SQLStatement(file: PackageResources.plan_second_readings_sql, parts: parts)
    static let planWindow = SQLStatement(file: PackageResources.plan_window_sql, parts: parts)
    static let recordItemGaps = SQLStatement(file: PackageResources.record_item_gaps_sql)
    static let recordLostWindows = SQLStatement(file: PackageResources.record_lost_windows_sql, parts: parts)
    static let recordWindowGap = SQLStatement(file: PackageResources.record_window_gap_sql)
    static let refundsDue = SQLStatement(file: PackageResources.refunds_due_sql)
    static let releaseItems = SQLStatement(file: PackageResources.release_items_sql)
    static let takeUpFailed = SQLStatement(file: PackageResources.take_up_failed_sql, parts: parts)

    /// What a statement names like a parameter, but is text.
    private static let parts: [String: [UInt8]] = [
        "due_days": PackageResources.due_days_sql,
        "future_runs": PackageResources.future_runs_sql,
        "is_first_reading": PackageResources.is_first_reading_sql,
        "latest_moment": PackageResources.latest_moment_sql,
        "rejected_items": PackageResources.rejected_items_sql,
        "rejected_of_stream": PackageResources.rejected_of_stream_sql,
        "reset_to_waiting": PackageResources.reset_to_waiting_sql,
        "again_suffix": constant(WindowReading.againSuffix),
        "failures_prefix": constant(WindowReading.failuresPrefix),
        "second_suffix": constant(WindowReading.secondSuffix),
        "second_reading_delay": constant("\(WindowReading.secondReadingDelay.components.seconds) seconds"),
        "superseded_code": Array("\(Ledger.supersededCode)".utf8),
    ].merging(partsOfRetryable) { $1 }

    private static func constant(_ text: String) -> [UInt8] { Array("'\(text)'".utf8) }

    /// Every statement but those that read the temporary table of listed IDs.
    static let ofPlanning = [
        ("add_earlier_windows", addEarlierWindows), ("changed_customers", changedCustomers),
        ("count_due_days", countDueDays), ("count_items_left", countItemsLeft),
        ("end_notifications", endNotifications), ("end_planning", endPlanning),
        ("find_future_windows", findFutureWindows), ("forget_completeness", forgetCompleteness),
        ("forget_followed", forgetFollowed), ("forget_future_gaps", forgetFutureGaps),
        ("forget_future_windows", forgetFutureWindows), ("insert_run", insertRun),
        ("last_window_end", lastWindowEnd), ("locked_open_run", lockedOpenRun), ("mark_refunded", markRefunded),
        ("note_filters", noteFilters), ("open_run", openRun), ("other_job_file", otherJobFile),
        ("plan_day_again", planDayAgain), ("plan_failures", planFailures),
        ("plan_second_readings", planSecondReadings), ("plan_window", planWindow),
        ("record_item_gaps", recordItemGaps), ("record_lost_windows", recordLostWindows),
        ("record_window_gap", recordWindowGap), ("refunds_due", refundsDue), ("release_items", releaseItems),
        ("take_up_failed", takeUpFailed),
    ]
}
