extension ReportSection {
    /// Whether the data is complete: notifications, runs, rejects.
    static let operations = ReportSection(
        id: "operations",
        title: "Operations",
        cards: [
            ChartCard(
                title: "Notification delivery",
                remark: "How the app’s own server took Apple’s notifications, by the day of their signature.",
                chart: Chart(
                    form: .bars,
                    axis: "day",
                    series: [
                        Chart.Series(column: "at_once", tone: 0), Chart.Series(column: "later", tone: 2),
                        Chart.Series(column: "retrying", tone: 3), Chart.Series(column: "not_known_yet", tone: 4),
                        Chart.Series(column: "never", tone: 1), Chart.Series(column: "unknown", tone: 5),
                    ],
                    hasShares: true,
                    isSum: true,
                    words: "notifications by day and how their delivery went"
                ),
                tables: [
                    (.deliveries, "Notifications by day of Apple’s signature"),
                    (.undelivered, "Notifications of the last 30 days that have not arrived"),
                ],
                nothing: "No notifications in the last 24 months."
            ),
            ChartCard(
                title: "Received notifications",
                remark:
                    "What the receiver stored, compared with Apple’s notification history: the proof that no notification was missed.",
                chart: nil,
                tables: [
                    (.completeness, "Days of the last month, by Apple’s signature"),
                    (.incomplete, "Days and types with a notification that is missing or not in the history"),
                ],
                nothing: "storeledger reconcile has compared no day.",
                isWide: true
            ),
            ChartCard(
                title: "Last runs",
                remark: "What each run of the job brought.",
                chart: Chart(
                    form: .bars,
                    axis: "run",
                    series: [Chart.Series(column: "rows_new", tone: 0), Chart.Series(column: "rows_updated", tone: 2)],
                    words: "new and updated rows by run"
                ),
                tables: [
                    (.runs, "The job’s last runs; 0 is complete, 2 that data is missing, 75 stopped with work left")
                ],
                nothing: "The job has never run."
            ),
            ChartCard(
                title: "Rejected, failing, missing",
                remark: """
                    Of the job’s last run, and records that could not be loaded. Without a table of rejected records, or of time that \
                    Apple no longer serves, there are none. storeledger status has examples, with a role that may read the tables.
                    """,
                chart: nil,
                tables: [
                    (.items, "Items of the last run"), (.rejected, "Records rejected, by reason"),
                    (.gaps, "Time that Apple no longer serves"),
                ],
                nothing: "Nothing is rejected or failing.",
                isWide: true
            ),
        ]
    )
}

extension ReportQuestion {
    static let deliveries = ReportQuestion(
        "deliveries",
        on: ["notification_health_by_day"],
        [
            FigureColumn("day", "Day", .day), FigureColumn("at_once", "Delivered at once", .count, of: "notifications"),
            FigureColumn("later", "Delivered after retries", .count, of: "notifications"),
            FigureColumn("retrying", "Being retried", .count, of: "notifications"),
            FigureColumn("not_known_yet", "Not known yet", .count, of: "notifications"),
            FigureColumn("never", "Never received", .count, of: "notifications"),
            FigureColumn("unknown", "No attempt known", .count, of: "notifications"),
            FigureColumn("notifications", "All", .count),
        ],
        """
        SELECT v.day::text AS day, sum(delivered_at_once) AS at_once, sum(delivered - delivered_at_once) AS later,
               sum(retrying) AS retrying, sum(not_known_yet) AS not_known_yet, sum(never_received) AS never, sum(unknown) AS unknown,
               sum(notifications) AS notifications
          FROM notification_health_by_day v WHERE app_id = $1 AND v.day >= \(sinceDay)
         GROUP BY v.day ORDER BY v.day DESC
        """
    )

    static let undelivered = ReportQuestion(
        "undelivered",
        on: ["undelivered_notifications"],
        [
            FigureColumn("type", "Notification", .text), FigureColumn("state", "State", .text),
            FigureColumn("failure", "Last failure", .text), FigureColumn("notifications", "Notifications", .count),
            FigureColumn("oldest", "Oldest, UTC", .moment),
        ],
        """
        SELECT notification_type AS type, state, last_failure AS failure, count(*) AS notifications,
               \(moment("min(signed_date)")) AS oldest
          FROM undelivered_notifications
         WHERE app_id = $1 AND signed_date >= ((now() - interval '30 days')::date + 1)::timestamptz
         GROUP BY notification_type, state, last_failure ORDER BY count(*) DESC, notification_type, state, last_failure
        """
    )

    static let completeness = ReportQuestion(
        "completeness",
        on: ["notification_completeness_by_day"],
        [
            FigureColumn("day", "Day", .day), FigureColumn("in_history", "In Apple’s history", .count),
            FigureColumn("received", "Received", .count),
            FigureColumn("both", "Received and in the history", .count, of: "in_history"),
            FigureColumn("recovered", "Recovered by the crawl", .count, of: "in_history"),
            FigureColumn("missing", "Answered but missing", .count, of: "in_history"),
            FigureColumn("unexplained", "Not in the history", .count, of: "received"),
            FigureColumn("checked", "Checked, UTC", .moment),
        ],
        """
        SELECT v.day::text AS day, sum(in_history) AS in_history, sum(received) AS received, sum(received_and_in_history) AS both,
               sum(recovered) AS recovered, sum(answered_but_missing) AS missing,
               sum(to_be_read_again + unexplained + unprovable) AS unexplained, \(moment("max(checked_at)")) AS checked
          FROM notification_completeness_by_day v WHERE app_id = $1 AND v.day >= (now() - interval '30 days')::date
         GROUP BY v.day ORDER BY v.day DESC
        """
    )

    static let incomplete = ReportQuestion(
        "incomplete",
        on: ["notification_completeness_by_day"],
        [
            FigureColumn("day", "Day", .day), FigureColumn("type", "Notification", .text),
            FigureColumn("missing", "Answered but missing", .count),
            FigureColumn("again", "To be read again", .count), FigureColumn("unexplained", "Unexplained", .count),
            FigureColumn("unprovable", "Unprovable", .count),
        ],
        """
        SELECT v.day::text AS day, notification_type AS type, answered_but_missing AS missing, to_be_read_again AS again,
               unexplained, unprovable
          FROM notification_completeness_by_day v WHERE app_id = $1 AND NOT is_proven
         ORDER BY v.day DESC, notification_type LIMIT 100
        """
    )

    static let runs = ReportQuestion(
        "runs",
        on: ["masked_runs"],
        [
            FigureColumn("run", "Run", .text), FigureColumn("started", "Began, UTC", .moment),
            FigureColumn("seconds", "Took", .seconds), FigureColumn("exit_code", "Exit code", .text),
            FigureColumn("requests", "Requests", .count), FigureColumn("rows_new", "New rows", .count),
            FigureColumn("rows_updated", "Updated rows", .count),
            FigureColumn("rejected", "Records rejected", .count), FigureColumn("failed", "Items failed", .count),
            FigureColumn("gaps", "Gaps", .count),
        ],
        """
        SELECT run_id::text AS run, \(moment("started_at")) AS started,
               round(extract(epoch FROM finished_at - started_at))::bigint AS seconds, exit_code::text AS exit_code,
               requests, rows_new, rows_updated, records_rejected AS rejected, items_failed AS failed, gaps
          FROM masked_runs WHERE app_id = $1 AND job = $2 ORDER BY run_id DESC LIMIT 14
        """
    )

    static let rejected = ReportQuestion(
        "rejected",
        on: ["rejected_records_by_reason", "masked_apps", "masked_runs"],
        [
            FigureColumn("reason", "Reason", .text), FigureColumn("stream", "History", .text),
            FigureColumn("records", "Records", .count), FigureColumn("first", "First came, UTC", .moment),
            FigureColumn("last", "Last came, UTC", .moment),
        ],
        """
        SELECT reason, stream, sum(records) AS records, \(moment("min(first_seen_at)")) AS first,
               \(moment("max(last_seen_at)")) AS last
          FROM rejected_records_by_reason WHERE \(countsForJob) AND job = $2
         GROUP BY reason, stream ORDER BY sum(records) DESC, reason, stream
        """
    )

    static let items = ReportQuestion(
        "items",
        on: ["crawl_items_by_state"],
        [
            FigureColumn("stream", "History", .text), FigureColumn("error_code", "Error", .text),
            FigureColumn("done", "Done", .count), FigureColumn("waiting", "Waiting", .count),
            FigureColumn("leased", "In hand", .count), FigureColumn("failed", "Failed", .count),
        ],
        """
        SELECT stream, coalesce(CASE state WHEN 'failed' THEN error_code END::text, 'none') AS error_code,
               coalesce(sum(items) FILTER (WHERE state = 'done'), 0) AS done,
               coalesce(sum(items) FILTER (WHERE state = 'waiting'), 0) AS waiting,
               coalesce(sum(items) FILTER (WHERE state = 'leased'), 0) AS leased,
               coalesce(sum(items) FILTER (WHERE state = 'failed'), 0) AS failed
          FROM crawl_items_by_state WHERE app_id = $1 AND job = $2
         GROUP BY stream, CASE state WHEN 'failed' THEN error_code END
         ORDER BY sum(items) FILTER (WHERE state = 'failed') DESC NULLS LAST, stream
        """
    )

    static let gaps = ReportQuestion(
        "gaps",
        on: ["masked_coverage_gaps"],
        [
            FigureColumn("stream", "History", .text), FigureColumn("gaps", "Gaps", .count),
            FigureColumn("first", "From, UTC", .moment), FigureColumn("last", "Until, UTC", .moment),
        ],
        """
        SELECT stream, count(*) AS gaps, \(moment("min(gap_start)")) AS first, \(moment("max(gap_end)")) AS last
          FROM masked_coverage_gaps WHERE app_id = $1 AND job = $2 GROUP BY stream ORDER BY count(*) DESC, stream
        """
    )
}
