extension ReportSection {
    /// What was changed at Apple, and what waits for an answer.
    static let actions = ReportSection(
        id: "actions",
        title: "Actions",
        cards: [
            ChartCard(
                title: "Batches",
                remark: """
                    The last 20 batches of requests that change something at Apple. “Confirmed” counts the rows whose \
                    effect a crawl has seen in Apple’s data.
                    """,
                chart: nil,
                tables: [
                    (.actionBatches, "Batches: who planned and approved them, and the outcome of their rows"),
                    (.massExtensions, "Extensions for all subscribers: Apple’s counts and the notifications received"),
                ],
                nothing: "Nothing was planned.",
                isWide: true
            ),
            ChartCard(
                title: "Open refund requests",
                remark: """
                    Apple waits twelve hours for consumption information about a purchase whose refund a customer \
                    requested. By the state of the answer; only answers that storeledger sent are known.
                    """,
                chart: nil,
                tables: [(.openRefundRequests, "Refund requests within their deadline")],
                nothing: "No refund request is open."
            ),
        ]
    )
}

extension ReportQuestion {
    static let actionBatches = ReportQuestion(
        "action-batches",
        on: ["actions_by_batch"],
        [
            FigureColumn("batch", "Batch", .text), FigureColumn("job", "Job", .text),
            FigureColumn("action", "Action", .text),
            FigureColumn("planned", "Planned, UTC", .moment), FigureColumn("planned_by", "Planned by", .text),
            FigureColumn("approved", "Approved, UTC", .moment), FigureColumn("approved_by", "Approved by", .text),
            FigureColumn("sent", "First sent, UTC", .moment),
            FigureColumn("to_send", "To send", .count), FigureColumn("sorted_out", "Sorted out", .count),
            FigureColumn("waiting", "Waiting", .count, of: "to_send"),
            FigureColumn("succeeded", "Succeeded", .count, of: "to_send"),
            FigureColumn("rejected", "Rejected", .count, of: "to_send"),
            FigureColumn("unknown", "Unknown", .count, of: "to_send"),
            FigureColumn("not_applied", "Not applied", .count, of: "to_send"),
            FigureColumn("cancelled", "Cancelled", .count, of: "to_send"),
            FigureColumn("confirmed", "Confirmed", .count, of: "to_send"),
        ],
        PackageResources.action_batches_sql
    )

    static let massExtensions = ReportQuestion(
        "mass-extensions",
        on: ["actions_confirmed"],
        [
            FigureColumn("product_id", "Product", .text), FigureColumn("sent", "Sent, UTC", .moment),
            FigureColumn("complete", "Summary, UTC", .moment),
            FigureColumn("apple_succeeded", "Extended: status", .count),
            FigureColumn("summary_succeeded", "summary", .count),
            FigureColumn("notified_succeeded", "notifications", .count),
            FigureColumn("apple_failed", "Failed: status", .count), FigureColumn("summary_failed", "summary", .count),
            FigureColumn("notified_failed", "notifications", .count), FigureColumn("agree", "Counts", .text),
        ],
        PackageResources.mass_extensions_sql
    )

    static let openRefundRequests = ReportQuestion(
        "open-refund-requests",
        on: ["consumption_requests"],
        [
            FigureColumn("answer", "Answer", .text), FigureColumn("requests", "Requests", .count),
            FigureColumn("first", "First deadline, UTC", .moment), FigureColumn("last", "Last deadline, UTC", .moment),
        ],
        PackageResources.open_refund_requests_sql
    )
}
