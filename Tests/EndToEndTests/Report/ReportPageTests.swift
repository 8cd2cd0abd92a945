import FoundationEssentials
import Postgres
import TestSupport
import Testing

/// The page of `storeledger report`, compared with the views and opened in a browser.
@Suite(.migratedDatabase, .startsEarly)
struct ReportPageTests {
    /// A ledger with purchases in many currencies, undelivered notifications, a reject and a hostile product.
    private func withPage(_ body: (Stage, WrittenPage) async throws -> Void) async throws {
        try await Stage.with(.init(customers: 40)) { stage in
            let path = try await stage.migrated(stage.job)
            try await stage.store.setFaults(
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
                // Rates for one of the currencies: the others are left out of the sums.
                try connection.script(
                    """
                    INSERT INTO appstore.exchange_rates VALUES ('USD', 'EUR', '2000-01-01', 1.1);
                    UPDATE appstore.notifications SET notification_type = 'DID_CHANGE_RENEWAL_STATUS', subtype = 'AUTO_RENEW_DISABLED'
                     WHERE notification_uuid = (SELECT min(notification_uuid) FROM appstore.notifications
                                                 WHERE notification_type = 'DID_RENEW');
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
                             MONEY(sum(gross_milliunits) - sum(refunded_milliunits)),
                             MONEY(sum(estimated_upgrade_refund_milliunits)))
              FROM revenue_by_month GROUP BY month, currency
            """
        ),
        (
            "mrr",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), coalesce(currency, 'not told'), MONEY(opening_milliunits),
                             MONEY(new_milliunits), MONEY(reactivation_milliunits), MONEY(expansion_milliunits),
                             MONEY(switched_in_milliunits), MONEY(contraction_milliunits), MONEY(churn_milliunits),
                             MONEY(switched_out_milliunits), MONEY(closing_milliunits), closing_subscriptions)
              FROM mrr_movement_by_month
            """
        ),
        (
            "active",
            """
            SELECT concat_ws('|', day, sum(active), sum(trials)) FROM active_subscriptions_by_day
             WHERE day >= DAYS GROUP BY day
            """
        ),
        (
            "movement",
            """
            SELECT concat_ws('|', day, sum(new), sum(resubscribed), sum(expired), sum(expired) - sum(resubscribed))
              FROM subscription_movement_by_day WHERE day >= DAYS
             GROUP BY day HAVING (sum(new), sum(resubscribed), sum(expired)) <> (0, 0, 0)
            """
        ),
        (
            "redemptions",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), coalesce(sum(CASE offer WHEN 'free trial' THEN redemptions END), 0),
                             coalesce(sum(CASE offer WHEN 'introductory' THEN redemptions END), 0),
                             coalesce(sum(CASE offer WHEN 'promotional' THEN redemptions END), 0),
                             coalesce(sum(CASE offer WHEN 'offer code' THEN redemptions END), 0),
                             coalesce(sum(CASE offer WHEN 'win-back' THEN redemptions END), 0),
                             sum(CASE WHEN offer LIKE 'type %' THEN redemptions ELSE 0 END), sum(redemptions))
              FROM offer_redemptions_by_month GROUP BY month
            """
        ),
        (
            "redemptions-by-offer",
            """
            SELECT concat_ws('|', product_id, offer, coalesce(offer_identifier, 'none'), sum(redemptions))
              FROM offer_redemptions_by_month WHERE month >= MONTHS GROUP BY product_id, offer, offer_identifier
            """
        ),
        (
            "renewals",
            """
            SELECT concat_ws('|', payment_number, sum(subscriptions), sum(due), sum(renewed), CASE sum(due) WHEN 0 THEN '–' ELSE
                             to_char(100 * round(sum(renewed) / sum(due), 4), 'FM990.00') || '%' END)
              FROM retention_by_renewal GROUP BY payment_number
            """
        ),
        (
            "renewals-by-product",
            """
            SELECT concat_ws('|', product_id, payment_number, sum(due), sum(renewed), CASE sum(due) WHEN 0 THEN '–' ELSE
                             to_char(100 * round(sum(renewed) / sum(due), 4), 'FM990.00') || '%' END)
              FROM retention_by_renewal GROUP BY product_id, payment_number
            """
        ),
        (
            "churn",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), sum(churned_voluntary), sum(churned_billing), sum(churned_price),
                             sum(churned_refund), sum(churned_other), sum(churned_unknown), sum(churned), sum(active_at_start))
              FROM renewals_and_churn_by_month GROUP BY month
            """
        ),
        (
            "refunds-by-month",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), sum(purchases), sum(refunded),
                             to_char(100 * round(sum(refunded) / sum(purchases), 4), 'FM990.00') || '%',
                             sum(refunded_for_an_issue))
              FROM refund_rate_by_month GROUP BY month
            """
        ),
        (
            "revenue-by-day",
            """
            SELECT concat_ws('|', day, coalesce(currency, 'not told'), MONEY(sum(new_milliunits)), MONEY(sum(renewal_milliunits)),
                             MONEY(sum(one_time_milliunits)), MONEY(sum(refunded_milliunits)), MONEY(sum(net_milliunits)))
              FROM revenue_by_day WHERE day >= (now() - interval '3 months')::date GROUP BY day, currency
            """
        ),
        (
            "revenue-converted",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), currency, sum(purchases), MONEY(sum(gross)), MONEY(sum(refunded)),
                             MONEY(sum(net)), (SELECT coalesce(string_agg(DISTINCT u.name, ', ' ORDER BY u.name), 'none')
                                                 FROM revenue_converted_by_month w, unnest(w.currencies_without_rate) u (name)
                                                WHERE w.month = v.month))
              FROM (SELECT month, reporting_currency AS currency, purchases, gross_estimated_milliunits AS gross,
                           refunded_estimated_milliunits AS refunded, net_estimated_milliunits AS net
                      FROM revenue_converted_by_month) v
             GROUP BY month, currency
            """
        ),
        (
            "proceeds-converted",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), currency, coalesce(MONEY(sum(proceeds)), '–'), 'rates are missing')
              FROM (SELECT month, reporting_currency AS currency, proceeds_estimated_milliunits AS proceeds
                      FROM proceeds_converted_by_month) v
             GROUP BY month, currency
            """
        ),
        (
            "mrr-retention",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), currency, MONEY(opening_milliunits),
                             to_char(100 * gross_mrr_retention, 'FM999990.00') || '%', to_char(100 * net_mrr_retention, 'FM999990.00') || '%')
              FROM mrr_retention_by_month WHERE gross_mrr_retention IS NOT NULL
            """
        ),
        (
            "quick-ratio",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), currency, coalesce(to_char(quick_ratio, 'FM999990.00'), '–'),
                             coalesce(MONEY(arpa_milliunits), '–'), closing_subscriptions)
              FROM mrr_retention_by_month
            """
        ),
        (
            "average-revenue",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), currency, customers, paying_customers, MONEY(net_milliunits),
                             MONEY(arpu_milliunits), coalesce(MONEY(arppu_milliunits), '–'))
              FROM average_revenue_by_month WHERE currency IS NOT NULL
            """
        ),
        (
            "mrr-at-risk",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), currency, sum(subscriptions), sum(will_not_renew), sum(in_grace_period),
                             MONEY(sum(mrr_milliunits) - sum(will_not_renew_mrr_milliunits) - sum(in_grace_period_mrr_milliunits)),
                             MONEY(sum(in_grace_period_mrr_milliunits)), MONEY(sum(will_not_renew_mrr_milliunits)))
              FROM mrr_at_risk_by_month GROUP BY month, currency
            """
        ),
        (
            "mrr-converted",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), currency, MONEY(opening_estimated_milliunits), MONEY(new_estimated_milliunits),
                             MONEY(reactivation_estimated_milliunits), MONEY(expansion_estimated_milliunits),
                             MONEY(contraction_estimated_milliunits), MONEY(churn_estimated_milliunits), MONEY(closing_estimated_milliunits),
                             coalesce(to_char(100 * gross_mrr_retention, 'FM999990.00') || '%', '–'),
                             coalesce(to_char(100 * net_mrr_retention, 'FM999990.00') || '%', '–'),
                             coalesce(to_char(quick_ratio, 'FM999990.00'), '–'), coalesce(array_to_string(currencies_without_rate, ', '), 'none'))
              FROM (SELECT *, reporting_currency AS currency FROM mrr_movement_converted_by_month) v
            """
        ),
        (
            "new-subscriptions",
            """
            SELECT concat_ws('|', day, sum(trial_conversions), sum(introductory), sum(direct), sum(direct_with_offer), sum(new))
              FROM new_subscriptions_by_day WHERE day >= DAYS GROUP BY day
            """
        ),
        (
            "movement-by-month",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), sum(opening), sum(new), sum(resubscribed), sum(switched_in), sum(expired),
                             sum(switched_out), sum(closing), sum(expired) - sum(resubscribed))
              FROM subscription_movement_by_month GROUP BY month
            """
        ),
        (
            "movement-by-product",
            """
            SELECT concat_ws('|', product_id, sum(opening), sum(new), sum(resubscribed), sum(switched_in), sum(expired),
                             sum(switched_out), sum(closing), sum(expired) - sum(resubscribed))
              FROM subscription_movement_by_month
             WHERE month = (date_trunc('month', now()) - interval '1 month')::date GROUP BY product_id
            """
        ),
        (
            "movement-by-storefront",
            """
            SELECT concat_ws('|', storefront, sum(opening), sum(new), sum(resubscribed), sum(switched_in), sum(expired),
                             sum(switched_out), sum(closing), sum(expired) - sum(resubscribed))
              FROM subscription_movement_by_month
             WHERE month = (date_trunc('month', now()) - interval '1 month')::date GROUP BY storefront
            """
        ),
        (
            "trials",
            """
            SELECT concat_ws('|', day, sum(converted), sum(running), sum(will_not_renew), sum(lost), sum(started))
              FROM trials_by_day WHERE day >= DAYS GROUP BY day
            """
        ),
        (
            "cancellations",
            """
            SELECT concat_ws('|', day, sum(cancelled) - sum(cancelled_trials), sum(cancelled_trials), sum(cancelled), sum(resumed))
              FROM cancellations_by_day WHERE day >= DAYS GROUP BY day
            """
        ),
        (
            "refund-requests",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), sum(refunded), sum(declined), sum(reversed), sum(pending), sum(requests),
                             sum(refunded_without_request), sum(declined_without_request))
              FROM refund_requests_by_month GROUP BY month
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
                             coalesce(sum(CASE status WHEN 'unknown' THEN subscriptions END), 0), sum(reported_by_apple),
                             sum(subscriptions))
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
              FROM notification_health_by_day WHERE day >= DAYS GROUP BY day
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

    /// The test's short words in SQL; money to two or, where it has them, three digits, whole for the yen and other
    /// currencies without a smaller unit.
    private func spelled(_ sql: String) -> String {
        sql.replacing("MONTHS", with: "(date_trunc('month', now()) - interval '24 months')::date")
            .replacing("DAYS", with: "date_trunc('week', now() - interval '24 months')")
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
                            SELECT CASE WHEN amount IS NULL THEN '–'
                                        WHEN currency IN ('JPY', 'KRW', 'VND', 'CLP') THEN round(amount / 1000)::text
                                        WHEN amount % 10 <> 0 THEN to_char(amount / 1000, 'FM999999999990.000')
                                        ELSE to_char(amount / 1000, 'FM999999999990.00') END
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
            for (counts, shares) in zip(page.table("states"), page.shares("states")) {
                let all = try #require(counts.last.flatMap { Double($0) })
                for (count, share) in zip(counts, shares).dropFirst().dropLast() {
                    let percent = try #require(Double(share.dropLast())), count = try #require(Double(count))
                    #expect(share.hasSuffix("%") && abs(percent - 100 * count / all) <= 0.05, "\(counts) \(shares)")
                }
            }
            let runs = page.table("runs")
            #expect(runs.count == 1 && runs[0][3] == "2", "\(runs)")
        }
    }

    @Test func `the page contains no customer ID, sends no request and closes every element`() async throws {
        try await withPage { stage, page in
            #expect(page.own.count > 20_000)
            #expect(page.own.firstMatch(of: /[0-9]{12,}/) == nil, "an ID of Apple's is on the page")
            #expect(page.own.firstMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-/) == nil, "a UUID is on the page")
            #expect(!page.own.contains("eyJ"))
            let addresses = page.own.matches(of: /(?:src|href|action|srcset|poster|data|formaction)="([^"]*)"/).map(\.1)
            // The others lead to a section of the page itself.
            #expect(addresses.filter { !$0.hasPrefix("#") } == ["data:,"])
            for section in addresses.filter({ $0.hasPrefix("#") }) {
                #expect(page.own.contains(" id=\"\(section.dropFirst())\""))
            }
            #expect(page.own.firstMatch(of: /url\(|@import|https?:/) == nil)
            #expect(page.html.contains("Chart.js v") && page.html.contains("Released under the MIT License"))
            for name in [
                "section", "table", "details", "main", "header", "nav", "a", "canvas", "script", "tr", "th", "td",
                "bdi", "dl",
            ] {
                let opened = page.own.matches(of: try Regex("<\(name)[ >]")).count
                #expect(opened == page.own.matches(of: try Regex("</\(name)>")).count, "\(name)")
            }
            let identifiers = page.own.matches(of: #/ id="([^"]*)"/#).map { String($0.1) }
            #expect(Set(identifiers).count == identifiers.count, "an ID is on the page twice")
            for table in page.own.split(separator: "<table").dropFirst() {
                for part in ["<caption>", "<th scope=\"col\"", "<th scope=\"row\""] { #expect(table.contains(part)) }
            }
        }
    }

    @Test(.enabled(if: Chromium.path != nil, Comment(rawValue: Chromium.missing)))
    func `a browser draws every chart from the views' figures, logs nothing and sends no request`() async throws {
        try await withPage { stage, page in
            let file = stage.directory + "/report.html"
            let visit = try await Chromium.visit(file, in: stage.directory)
            #expect(visit.console == [])
            #expect(visit.requests == [])
            let canvases = page.own.matches(of: /<canvas\s/).count
            #expect(canvases == Self.charts)
            #expect(visit.document.contains("data-charts=\"\(canvases)\""))

            let probe = try await probe(page, stage)
            #expect(probe.title == "com.example.game: App Store ledger")
            #expect(probe.scripts == 4 && probe.resources == 0)
            #expect(Set(probe.charts.map(\.id)).count == canvases)
            #expect(Set(probe.charts.map(\.currency)).count > 3)
            for chart in probe.charts {
                #expect(chart.painted > 2_000 && chart.colors > 5, "\(chart.id) is blank")
                #expect(chart.label.hasPrefix("Chart: ") && chart.label.count > 40)
            }
            try await expectSameMoney(probe)
            for chart in probe.charts where chart.id == "chart-revenue" {
                // The present month is not over; every other one is.
                let last = chart.labels.count - 1
                #expect(
                    chart.labels.indices.filter { chart.labels[$0].hasSuffix("\nso far") } == [last],
                    "\(chart.labels)"
                )
                #expect(chart.lighter == (last > 0 ? [last] : []), "\(chart.currency)")
                #expect(chart.label.contains("\(chart.labels[last].replacing("\nso far", with: "")) is not over."))
            }
            let months = try #require(probe.ranges["chart-revenue"])
            #expect(months["3"] == 4, "three months that are over, and the present one")
            #expect(months["12"] == 13 && months["24"] == 25)
            #expect(months["0"].map { $0 > 25 } == true)
            let days = try #require(probe.ranges["chart-active"])
            #expect(days["3"].map((90...93).contains) == true && days["12"].map((366...367).contains) == true)
            let movement = try #require(probe.ranges["chart-movement"])
            #expect(movement["3"].map((90...93).contains) == true, "by day")
            #expect(movement["12"].map((53...54).contains) == true, "by week")
            let states = try #require(probe.charts.first { $0.id == "chart-states" })
            #expect(states.labels.contains { $0.hasPrefix("</script><script") })

            // The check detects forbidden behaviour when it happens: a foreign script, and a request.
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

    @Test(.enabled(if: Chromium.path != nil, Comment(rawValue: Chromium.missing)))
    func `on a phone nothing scrolls sideways and names keep both ends, and on paper no chart is cut off`() async throws
    {
        try await withPage { stage, page in
            let phone = try await probe(page, stage, width: 390)
            #expect(phone.width == 390 && phone.scrollWidth <= 390, "\(phone.scrollWidth)")
            let states = try #require(phone.charts.first { $0.id == "chart-states" })
            let name = try #require(states.labels.first { $0.hasPrefix("</sc") })
            #expect(Set(states.labels).count == states.labels.count, "\(states.labels)")
            #expect(name.contains("…") && name.hasSuffix("\\u{202E}x") && name.count < 30, "\(name)")
            #expect(phone.paper.count == Self.charts)
            // The sheets of A4 and US Letter have 680 CSS pixels between usual margins, and some more.
            #expect(phone.paper.allSatisfy { (300...680).contains($0) }, "\(phone.paper)")
            let desk = try await probe(page, stage)
            #expect(desk.scrollWidth <= desk.width)
            #expect(desk.paper.allSatisfy { (300...680).contains($0) }, "\(desk.paper)")
        }
    }

    /// How many charts the page of a world with everything has.
    private static let charts = 27

    // Opens the same page without its policy, so that a script of the test can look at it; in a frame of the width in CSS
    // pixels, or without one in the whole window.
    private func probe(_ page: WrittenPage, _ stage: Stage, width: Int? = nil) async throws -> Probe {
        let policy = /<meta http-equiv="Content-Security-Policy"[^>]*>/
        let open = page.html.replacing(policy, with: "").replacing("</body>", with: Probe.script + "</body>")
        let file = stage.directory + "/open.html"
        try Data(open.utf8).write(to: URL(filePath: file))
        guard let width else {
            return try Probe(document: try await Chromium.visit(file, in: stage.directory).document)
        }
        let frame = stage.directory + "/frame.html"
        try Data(Probe.frame(of: file, width: width).utf8).write(to: URL(filePath: frame))
        return try Probe(document: try await Chromium.visit(frame, in: stage.directory).document)
    }

    private func expectSameMoney(_ probe: Probe) async throws {
        for chart in probe.charts where chart.id == "chart-revenue" {
            let rows = try await TemporaryDatabase.pool(size: 1).withConnection { connection in
                try connection.run(
                    """
                    SELECT coalesce(sum(gross_milliunits), 0)::bigint AS gross, -coalesce(sum(refunded_milliunits), 0)::bigint AS refunded
                      FROM (SELECT generate_series(min(month)::timestamp, now() AT TIME ZONE 'UTC', '1 month')::date AS month
                              FROM appstore.revenue_by_month WHERE currency = $1) calendar
                      LEFT JOIN appstore.revenue_by_month r ON r.month = calendar.month AND r.currency = $1
                     GROUP BY calendar.month ORDER BY calendar.month
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
