import FoundationEssentials
import LedgerTables
import Postgres
import TestSupport
import Testing

/// The page of `storeledger report`, compared with the views and opened in a browser.
@Suite(.migratedDatabase, .timeLimit(.minutes(15)))
struct ReportPageTests {
    /// A ledger with purchases in many currencies, undelivered notifications, a reject and a hostile product.
    private func withPage(_ body: (Stage, WrittenPage) async throws -> Void) async throws {
        try await Stage.with(.init(customers: 40)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.store.misbehave(
                #"{"rules": [{"endpoint": "transactionHistory", "times": 4, "fault": "duplicateKey"}]}"#
            )
            try await stage.run(path, expecting: 2)
            try await TemporaryDatabase.pool(size: 1).withConnection { connection in
                _ = try connection.run(
                    """
                    UPDATE appstore.transactions SET product_id = $1 WHERE product_id =
                        (SELECT product_id FROM appstore.transactions GROUP BY 1 ORDER BY count(*) DESC LIMIT 1)
                    """,
                    [.text(Self.hostileName)]
                )
                try connection.script(
                    """
                    UPDATE appstore.notification_send_attempts SET send_attempt_result = 'TIMED_OUT' WHERE notification_uuid =
                        (SELECT min(notification_uuid) FROM appstore.notification_send_attempts)
                    """
                )
            }
            try #require(try await stage.storeledger("refresh", path).code == 0)
            let page = stage.directory + "/report.html"
            let outcome = try await stage.storeledger("report", path, "--output", page)
            try #require(outcome.code == 0, "\(outcome.errors)")
            try await body(stage, try WrittenPage(page))
        }
    }

    private static let hostileName = "</script><script>document.title = 'gone'</script><b>\"'&\u{202E}x"
    /// The same as people are to see it.
    private static let hostileText = hostileName.replacing("\u{202E}", with: "\\u{202E}")

    /// What a table of the page is to say: a row of the page joined by bars, as SQL of the test's own has it.
    private static let tables: [(id: String, sql: String)] = [
        (
            "revenue",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), coalesce(currency, 'not told'), sum(purchases),
                             MONEY(sum(gross_milliunits)), sum(refunds), MONEY(sum(refunded_milliunits)),
                             MONEY(sum(gross_milliunits) - sum(refunded_milliunits)))
              FROM revenue_by_month WHERE month >= MONTHS GROUP BY month, currency
            """
        ),
        (
            "mrr",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), coalesce(currency, 'not told'), MONEY(opening_milliunits),
                             MONEY(new_milliunits), MONEY(reactivation_milliunits), MONEY(expansion_milliunits),
                             MONEY(switched_in_milliunits), MONEY(contraction_milliunits), MONEY(churn_milliunits),
                             MONEY(switched_out_milliunits), MONEY(closing_milliunits), closing_subscriptions)
              FROM mrr_movement_by_month WHERE month >= MONTHS
            """
        ),
        (
            "active",
            """
            SELECT concat_ws('|', day, sum(active), sum(trials)) FROM active_subscriptions_by_day
             WHERE day > (now() - interval '13 months')::date GROUP BY day
            """
        ),
        (
            "states",
            """
            SELECT concat_ws('|', product_id, coalesce(sum(CASE status WHEN 'active' THEN subscriptions END), 0),
                             coalesce(sum(CASE status WHEN 'grace period' THEN subscriptions END), 0),
                             coalesce(sum(CASE status WHEN 'billing retry' THEN subscriptions END), 0),
                             coalesce(sum(CASE status WHEN 'expired' THEN subscriptions END), 0),
                             coalesce(sum(CASE status WHEN 'revoked' THEN subscriptions END), 0),
                             coalesce(sum(CASE status WHEN 'unknown' THEN subscriptions END), 0))
              FROM subscriptions_by_status GROUP BY product_id
            """
        ),
        (
            "refunds-by-product",
            """
            SELECT concat_ws('|', product_id, sum(purchases), sum(refunded),
                             to_char(100 * round(sum(refunded) / sum(purchases), 4), 'FM990.00') || '%',
                             sum(refunded_for_an_issue))
              FROM refund_rate_by_month WHERE month >= MONTHS GROUP BY product_id
            """
        ),
        (
            "refunds-by-storefront",
            """
            SELECT concat_ws('|', storefront, sum(purchases), sum(refunded),
                             to_char(100 * round(sum(refunded) / sum(purchases), 4), 'FM990.00') || '%',
                             sum(refunded_for_an_issue))
              FROM refund_rate_by_month WHERE month >= MONTHS GROUP BY storefront
            """
        ),
        (
            "refunded-money",
            """
            SELECT concat_ws('|', product_id, currency, MONEY(sum(gross_milliunits)), MONEY(sum(refunded_milliunits)))
              FROM refund_rate_by_month WHERE month >= MONTHS GROUP BY product_id, currency HAVING sum(refunded) > 0
            """
        ),
        (
            "deliveries",
            """
            SELECT concat_ws('|', day, sum(delivered_at_once), sum(delivered) - sum(delivered_at_once), sum(retrying),
                             sum(not_known_yet), sum(never_received), sum(unknown), sum(notifications))
              FROM notification_health_by_day WHERE day > (now() - interval '30 days')::date GROUP BY day
            """
        ),
        (
            "undelivered",
            """
            SELECT concat_ws('|', notification_type, state, last_failure, count(*),
                             to_char(min(signed_date), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
              FROM undelivered_notifications WHERE signed_date::date > (now() - interval '30 days')::date
             GROUP BY notification_type, state, last_failure
            """
        ),
        (
            "rejected",
            """
            SELECT concat_ws('|', reason, stream, count(*), to_char(min(first_seen_at), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                             to_char(max(last_seen_at), 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
              FROM rejected_records WHERE resolved_at IS NULL GROUP BY reason, stream
            """
        ),
        (
            "items",
            """
            SELECT concat_ws('|', stream, 'none', count(*) FILTER (WHERE state = 'done'), 0, 0, 0)
              FROM crawl_items GROUP BY stream
            """
        ),
        (
            "retention",
            """
            SELECT concat_ws('|', to_char(cohort_month, 'YYYY-MM'), max(size), string_agg(CASE
                             WHEN rate > 0 AND rate < 0.005 THEN '<1' ELSE round(100 * rate)::text END, '|' ORDER BY month_number))
              FROM (SELECT cohort_month, month_number, sum(subscriptions) AS size,
                           round(sum(retained) / sum(subscriptions), 4) AS rate
                      FROM retention_cohorts WHERE cohort_month >= MONTHS GROUP BY 1, 2) cells
             GROUP BY cohort_month
            """
        ),
    ]

    /// The test's short words in SQL; money to two or, where it has them, three digits, none for the yen and its like.
    private func spelled(_ sql: String) -> String {
        sql.replacing("MONTHS", with: "(date_trunc('month', now()) - interval '24 months')::date")
            .replacing("MONEY(", with: "pg_temp.money_words(currency, ")
    }

    @Test func `every table says what the views say`() async throws {
        try await withPage { stage, page in
            for (id, sql) in Self.tables {
                let spelled = spelled(sql)
                let expected = try await TemporaryDatabase.pool(size: 1).withConnection { connection in
                    try connection.script(
                        """
                        SET search_path = appstore; SET TimeZone = 'UTC';
                        CREATE FUNCTION pg_temp.money_words(currency text, amount numeric) RETURNS text LANGUAGE sql AS $$
                            SELECT CASE WHEN amount % 10 <> 0 THEN to_char(amount / 1000, 'FM999999999990.000')
                                        WHEN amount % 1000 <> 0 OR coalesce(currency, '') NOT IN ('JPY', 'KRW', 'VND', 'CLP')
                                        THEN to_char(amount / 1000, 'FM999999999990.00')
                                        ELSE to_char(amount / 1000, 'FM999999999990') END
                        $$
                        """
                    )
                    return try connection.run("SELECT words FROM (\(spelled)) AS rows (words)").map {
                        try $0.text("words")
                    }
                }
                let rows = page.table(id).map { $0.filter { !$0.isEmpty }.joined(separator: "|") }
                #expect(!expected.isEmpty, "\(id): the world has nothing for it")
                let hostile = expected.map { $0.replacing(Self.hostileName, with: Self.hostileText) }
                expectSame(rows.sorted(), hostile.sorted())
            }
            let runs = page.table("runs")
            #expect(runs.count == 1 && runs[0][3] == "2", "\(runs)")
        }
    }

    @Test func `the page names no customer, asks for nothing and closes every element`() async throws {
        try await withPage { stage, page in
            #expect(page.own.count > 20_000)
            #expect(page.own.firstMatch(of: /[0-9]{12,}/) == nil, "an ID of Apple's is on the page")
            #expect(page.own.firstMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-/) == nil, "a UUID is on the page")
            #expect(!page.own.contains("eyJ"))
            let addresses = page.own.matches(of: /(?:src|href|action|srcset|poster|data|formaction)="([^"]*)"/).map(\.1)
            #expect(addresses == ["data:,"])
            #expect(page.own.firstMatch(of: /url\(|@import|https?:/) == nil)
            #expect(page.html.contains("Chart.js v") && page.html.contains("Released under the MIT License"))
            for name in ["section", "table", "details", "main", "header", "script", "tr", "th", "td", "bdi", "dl"] {
                let opened = page.own.matches(of: try Regex("<\(name)[ >]")).count
                #expect(opened == page.own.matches(of: try Regex("</\(name)>")).count, "\(name)")
            }
            for table in page.own.split(separator: "<table").dropFirst() {
                for part in ["<caption>", "<th scope=\"col\"", "<th scope=\"row\""] { #expect(table.contains(part)) }
            }
        }
    }

    @Test(.enabled(if: Chromium.path != nil, Comment(rawValue: Chromium.missing)))
    func `a browser draws every chart from the views' figures, says nothing and asks nobody`() async throws {
        try await withPage { stage, page in
            let file = stage.directory + "/report.html"
            let visit = try await Chromium.visit(file, in: stage.directory)
            #expect(visit.console == [])
            #expect(visit.requests == [])
            #expect(visit.document.contains("data-charts=\"8\""))

            // The same page, so that a script of the test's may look at it.
            let policy = /<meta http-equiv="Content-Security-Policy"[^>]*>/
            let open = page.html.replacing(policy, with: "").replacing("</body>", with: Probe.script + "</body>")
            try Data(open.utf8).write(to: URL(filePath: stage.directory + "/open.html"))
            let probe = try Probe(
                document: try await Chromium.visit(stage.directory + "/open.html", in: stage.directory).document
            )
            #expect(probe.title == "com.example.game: App Store ledger")
            #expect(probe.scripts == 4 && probe.resources == 0)
            #expect(Set(probe.charts.map(\.id)).count == 8)
            #expect(Set(probe.charts.map(\.currency)).count > 3)
            for chart in probe.charts {
                #expect(chart.painted > 2_000 && chart.colours > 5, "\(chart.id) is blank")
                #expect(chart.label.hasPrefix("Chart: ") && chart.label.count > 40)
            }
            try await expectSameMoney(probe)
            let states = try #require(probe.charts.first { $0.id == "chart-states" })
            #expect(states.labels.contains { $0.hasPrefix("</script><script") })

            // What the page is not to do is seen when it is done: a script of somebody else's, and a request.
            let asking = "<img src=\"http://127.0.0.1:9/\">"
            let forged = page.html.replacing("</body>", with: "<script>1</script>\(asking)</body>")
            try Data(forged.utf8).write(to: URL(filePath: stage.directory + "/forged.html"))
            let stopped = try await Chromium.visit(stage.directory + "/forged.html", in: stage.directory)
            #expect(stopped.console.count >= 2 && stopped.requests == [])
            try Data(asking.utf8).write(to: URL(filePath: stage.directory + "/asks.html"))
            let asks = try await Chromium.visit(stage.directory + "/asks.html", in: stage.directory)
            #expect(asks.requests == ["http://127.0.0.1:9/"])
        }
    }

    private func expectSameMoney(_ probe: Probe) async throws {
        for chart in probe.charts where chart.id == "chart-revenue" {
            let rows = try await TemporaryDatabase.pool(size: 1).withConnection { connection in
                try connection.run(
                    """
                    SELECT sum(gross_milliunits)::bigint AS gross, -sum(refunded_milliunits)::bigint AS refunded
                      FROM appstore.revenue_by_month
                     WHERE currency = $1 AND month >= (date_trunc('month', now()) - interval '24 months')::date
                     GROUP BY month ORDER BY month
                    """,
                    [.text(chart.currency)]
                ).map { (gross: try $0.int64("gross"), refunded: try $0.int64("refunded")) }
            }
            func milliunits(_ name: String) -> [Int64] {
                (chart.sets.first { $0.name == name }?.values ?? []).map { Int64((($0 ?? .nan) * 1_000).rounded()) }
            }
            #expect(milliunits("Sales") == rows.map(\.gross), "\(chart.currency)")
            #expect(milliunits("Refunded") == rows.map(\.refunded), "\(chart.currency)")
        }
    }
}
