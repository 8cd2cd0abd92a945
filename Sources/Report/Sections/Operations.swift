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
        PackageResources.deliveries_sql
    )

    static let undelivered = ReportQuestion(
        "undelivered",
        on: ["undelivered_notifications"],
        [
            FigureColumn("type", "Notification", .text), FigureColumn("state", "State", .text),
            FigureColumn("failure", "Last failure", .text), FigureColumn("notifications", "Notifications", .count),
            FigureColumn("oldest", "Oldest, UTC", .moment),
        ],
        PackageResources.undelivered_sql
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
        PackageResources.completeness_sql
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
        PackageResources.incomplete_sql
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
        PackageResources.runs_sql
    )

    static let rejected = ReportQuestion(
        "rejected",
        on: ["rejected_records_by_reason", "masked_apps", "masked_runs"],
        [
            FigureColumn("reason", "Reason", .text), FigureColumn("stream", "History", .text),
            FigureColumn("records", "Records", .count), FigureColumn("first", "First came, UTC", .moment),
            FigureColumn("last", "Last came, UTC", .moment),
        ],
        PackageResources.rejected_sql
    )

    static let items = ReportQuestion(
        "items",
        on: ["crawl_items_by_state"],
        [
            FigureColumn("stream", "History", .text), FigureColumn("error_code", "Error", .text),
            FigureColumn("done", "Done", .count), FigureColumn("waiting", "Waiting", .count),
            FigureColumn("leased", "In hand", .count), FigureColumn("failed", "Failed", .count),
        ],
        PackageResources.items_sql
    )

    static let gaps = ReportQuestion(
        "gaps",
        on: ["masked_coverage_gaps"],
        [
            FigureColumn("stream", "History", .text), FigureColumn("gaps", "Gaps", .count),
            FigureColumn("first", "From, UTC", .moment), FigureColumn("last", "Until, UTC", .moment),
        ],
        PackageResources.gaps_sql
    )
}
