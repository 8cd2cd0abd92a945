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
                    INSERT INTO appstore.exchange_rates VALUES ('USD', 'EUR', '2000-01-01', 2);
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
    ///
    /// The page begins with the last twelve months that are over and the present one, and with amounts in USD.
    private static let tables: [(id: String, sql: String)] = [
        (
            "sales",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), counted.purchases, MONEY(gross), counted.refunds,
                             pg_temp.rated_words(counted.lacks, nullif(refunded, 0)), MONEY(gross - refunded))
              FROM (SELECT month, sum(purchases) AS purchases, sum(refunds) AS refunds, bool_or(UNRATED AND refunded_milliunits <> 0) AS lacks
                      FROM revenue_by_month WHERE month >= YEAR GROUP BY month) counted
              JOIN (SELECT month, sum(gross_estimated_amount) * 1000 AS gross, sum(refunded_estimated_amount) * 1000 AS refunded
                      FROM revenue_converted_by_month GROUP BY month) converted USING (month)
            """
        ),
        (
            "revenue-kinds",
            """
            SELECT concat_ws('|', to_char(day, 'YYYY-MM'), RATED(new_milliunits), RATED(renewal_milliunits), RATED(one_time_milliunits),
                             RATED(gross_milliunits))
              FROM (SELECT *, gross_milliunits + refunded_milliunits AS whole FROM revenue_by_day) v LEFT JOIN RATES USING (currency)
             WHERE day >= YEAR GROUP BY to_char(day, 'YYYY-MM')
            """
        ),
        (
            "sales-by-country",
            """
            SELECT concat_ws('|', country, NET, RATED(gross_milliunits), RATED(refunded_milliunits), sum(purchases))
              FROM (SELECT *, gross_milliunits + refunded_milliunits AS whole FROM revenue_by_month) v LEFT JOIN RATES USING (currency)
              JOIN storefronts USING (storefront)
             WHERE month >= YEAR AND month < MONTH GROUP BY country
            """
        ),
        (
            "sales-by-product",
            """
            SELECT concat_ws('|', product_id, NET, RATED(gross_milliunits), RATED(refunded_milliunits), sum(purchases))
              FROM (SELECT *, gross_milliunits + refunded_milliunits AS whole FROM revenue_by_month) v LEFT JOIN RATES USING (currency)
             WHERE month >= YEAR AND month < MONTH GROUP BY product_id
            """
        ),
        (
            "mrr-movement",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), MOVED(opening), MOVED(new), ANY(reactivation), ANY(expansion), ANY(switched_in),
                             ANY(contraction), MOVED(churn), ANY(switched_out), MOVED(closing), closing_subscriptions)
              FROM (SELECT month, sum(closing_subscriptions) AS closing_subscriptions,
                           sum(opening_milliunits) FILTER (WHERE UNRATED) AS opening, sum(new_milliunits) FILTER (WHERE UNRATED) AS new,
                           sum(reactivation_milliunits) FILTER (WHERE UNRATED) AS reactivation,
                           sum(expansion_milliunits) FILTER (WHERE UNRATED) AS expansion,
                           sum(switched_in_milliunits) FILTER (WHERE UNRATED) AS switched_in,
                           sum(contraction_milliunits) FILTER (WHERE UNRATED) AS contraction,
                           sum(churn_milliunits) FILTER (WHERE UNRATED) AS churn,
                           sum(switched_out_milliunits) FILTER (WHERE UNRATED) AS switched_out,
                           sum(closing_milliunits) FILTER (WHERE UNRATED) AS closing
                      FROM mrr_movement_by_month GROUP BY month) unrated
              JOIN mrr_movement_converted_by_month USING (month) WHERE month >= YEAR
            """
        ),
        (
            "mrr",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), MONEY(sum(mrr_estimated_amount) * 1000), MONEY(12 * sum(mrr_estimated_amount) * 1000),
                             sum(active_subscriptions))
              FROM mrr_converted_by_month WHERE month >= YEAR GROUP BY month
            """
        ),
        (
            "mrr-retention",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), MONEY(opening_estimated_amount * 1000),
                             coalesce(to_char(100 * gross_mrr_retention, 'FM999990.00') || '%', '–'),
                             coalesce(to_char(100 * net_mrr_retention, 'FM999990.00') || '%', '–'))
              FROM mrr_movement_converted_by_month WHERE month >= YEAR
            """
        ),
        (
            "average-revenue",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), sum(customers), sum(paying_customers), MONEY(sum(net_milliunits * rate)),
                             MONEY(sum(net_milliunits * rate) / sum(customers) FILTER (WHERE rate IS NOT NULL)),
                             MONEY(sum(net_milliunits * rate) / sum(paying_customers) FILTER (WHERE rate IS NOT NULL)))
              FROM average_revenue_by_month LEFT JOIN RATES USING (currency) WHERE month >= YEAR
             GROUP BY month
            """
        ),
        (
            "mrr-at-risk",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), sum(subscriptions), sum(will_not_renew), sum(in_grace_period),
                             RATED((mrr_milliunits - will_not_renew_mrr_milliunits - in_grace_period_mrr_milliunits)),
                             RATED(in_grace_period_mrr_milliunits), RATED(will_not_renew_mrr_milliunits), RATED(mrr_milliunits))
              FROM (SELECT *, mrr_milliunits AS whole FROM mrr_at_risk_by_month WHERE subscriptions > 0) v
              LEFT JOIN RATES USING (currency) GROUP BY month
            """
        ),
        (
            "active",
            """
            SELECT concat_ws('|', to_char(day, 'YYYY-MM'), sum(active), sum(trials)) FROM active_subscriptions_by_day
             WHERE day >= YEAR AND day IN (SELECT max(day) FROM active_subscriptions_by_day GROUP BY date_trunc('month', day)) GROUP BY day
            """
        ),
        (
            "movement",
            """
            SELECT concat_ws('|', to_char(day, 'YYYY-MM'), sum(new), sum(resubscribed), sum(expired), sum(expired) - sum(resubscribed))
              FROM subscription_movement_by_day WHERE day >= YEAR GROUP BY to_char(day, 'YYYY-MM')
            """
        ),
        (
            "new-customers",
            """
            SELECT concat_ws('|', to_char(day, 'YYYY-MM'), sum(paying_customers), sum(customers) - sum(paying_customers), sum(customers))
              FROM new_customers_by_day WHERE day >= YEAR GROUP BY to_char(day, 'YYYY-MM')
            """
        ),
        (
            "new-subscriptions",
            """
            SELECT concat_ws('|', to_char(day, 'YYYY-MM'), sum(trial_conversions), sum(introductory), sum(direct), sum(direct_with_offer), sum(new))
              FROM new_subscriptions_by_day WHERE day >= YEAR GROUP BY to_char(day, 'YYYY-MM')
            """
        ),
        (
            "movement-by-month",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), sum(opening), sum(new), sum(resubscribed), sum(switched_in), sum(expired),
                             sum(switched_out), sum(closing), sum(expired) - sum(resubscribed))
              FROM subscription_movement_by_month WHERE month >= YEAR GROUP BY month
            """
        ),
        (
            "movement-by-product",
            """
            SELECT concat_ws('|', product_id, coalesce(sum(opening) FILTER (WHERE month = YEAR), 0), sum(new), sum(resubscribed), sum(switched_in),
                             sum(expired), sum(switched_out), coalesce(sum(closing) FILTER (WHERE month = MONTH - interval '1 month'), 0),
                             sum(expired) - sum(resubscribed))
              FROM subscription_movement_by_month WHERE month >= YEAR AND month < MONTH GROUP BY product_id
            """
        ),
        (
            "movement-by-storefront",
            """
            SELECT concat_ws('|', country, coalesce(sum(opening) FILTER (WHERE month = YEAR), 0), sum(new), sum(resubscribed), sum(switched_in),
                             sum(expired), sum(switched_out), coalesce(sum(closing) FILTER (WHERE month = MONTH - interval '1 month'), 0),
                             sum(expired) - sum(resubscribed))
              FROM subscription_movement_by_month JOIN storefronts USING (storefront) WHERE month >= YEAR AND month < MONTH GROUP BY country
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
            "trials",
            """
            SELECT concat_ws('|', to_char(day, 'YYYY-MM'), sum(converted), sum(running), sum(will_not_renew), sum(lost), sum(started))
              FROM trials_by_day WHERE day >= YEAR GROUP BY to_char(day, 'YYYY-MM')
            """
        ),
        (
            "trial-conversion",
            """
            SELECT concat_ws('|', to_char(day, 'YYYY-MM'), sum(started), sum(converted), to_char(100 * sum(converted)::numeric / sum(started), 'FM990.00') || '%')
              FROM trials_by_day WHERE day >= YEAR GROUP BY to_char(day, 'YYYY-MM')
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
              FROM offer_redemptions_by_month WHERE month >= YEAR GROUP BY month
            """
        ),
        (
            "redemptions-by-offer",
            """
            SELECT concat_ws('|', product_id, offer, coalesce(offer_identifier, 'none'), sum(redemptions))
              FROM offer_redemptions_by_month WHERE month >= YEAR AND month < MONTH GROUP BY product_id, offer, offer_identifier
            """
        ),
        (
            "offers-by-outcome",
            """
            SELECT concat_ws('|', offer, sum(converted), sum(running), sum(lost), sum(started),
                             to_char(100 * sum(converted)::numeric / sum(started), 'FM990.00') || '%')
              FROM offer_conversion_by_month WHERE month >= YEAR AND month < MONTH GROUP BY offer
            """
        ),
        (
            "renewals",
            """
            SELECT concat_ws('|', payment_number, sum(subscriptions), sum(due), sum(renewed), CASE sum(due) WHEN 0 THEN '–' ELSE
                             to_char(100 * sum(renewed)::numeric / sum(due), 'FM990.00') || '%' END)
              FROM retention_by_renewal GROUP BY payment_number
            """
        ),
        (
            "renewals-by-product",
            """
            SELECT concat_ws('|', product_id, payment_number, sum(due), sum(renewed), CASE sum(due) WHEN 0 THEN '–' ELSE
                             to_char(100 * sum(renewed)::numeric / sum(due), 'FM990.00') || '%' END)
              FROM retention_by_renewal GROUP BY product_id, payment_number
            """
        ),
        (
            "churn",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), sum(churned_voluntary), sum(churned_billing), sum(churned_price),
                             sum(churned_refund), sum(churned_other), sum(churned_unknown), sum(churned), sum(active_at_start))
              FROM renewals_and_churn_by_month WHERE month >= YEAR GROUP BY month
            """
        ),
        (
            "cancellations",
            """
            SELECT concat_ws('|', to_char(day, 'YYYY-MM'), sum(cancelled) - sum(cancelled_trials), sum(cancelled_trials), sum(cancelled), sum(resumed))
              FROM cancellations_by_day WHERE day >= YEAR GROUP BY to_char(day, 'YYYY-MM')
            """
        ),
        (
            "refunds-by-month",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), sum(purchases), sum(refunded), to_char(100 * sum(refunded) / sum(purchases), 'FM990.00') || '%',
                             sum(refunded_for_an_issue))
              FROM refund_rate_by_month WHERE month >= YEAR GROUP BY month
            """
        ),
        (
            "refunds-by-product",
            """
            SELECT concat_ws('|', product_id, sum(refunded), sum(purchases), to_char(100 * sum(refunded) / sum(purchases), 'FM990.00') || '%',
                             sum(refunded_for_an_issue))
              FROM refund_rate_by_month WHERE month >= YEAR AND month < MONTH GROUP BY product_id
            """
        ),
        (
            "refunds-by-storefront",
            """
            SELECT concat_ws('|', country, sum(refunded), sum(purchases), to_char(100 * sum(refunded) / sum(purchases), 'FM990.00') || '%',
                             sum(refunded_for_an_issue))
              FROM refund_rate_by_month JOIN storefronts USING (storefront) WHERE month >= YEAR AND month < MONTH GROUP BY country
            """
        ),
        (
            "refund-requests",
            """
            SELECT concat_ws('|', to_char(month, 'YYYY-MM'), sum(refunded), sum(declined), sum(reversed), sum(pending), sum(requests),
                             sum(refunded_without_request), sum(declined_without_request))
              FROM refund_requests_by_month WHERE month >= YEAR GROUP BY month
            """
        ),
        (
            "deliveries",
            """
            SELECT concat_ws('|', to_char(day, 'YYYY-MM'), sum(delivered_at_once), sum(delivered) - sum(delivered_at_once), sum(retrying),
                             sum(not_known_yet), sum(never_received), sum(unknown), sum(notifications),
                             to_char(100 * sum(delivered)::numeric / sum(notifications), 'FM990.00') || '%')
              FROM notification_health_by_day WHERE day >= YEAR GROUP BY to_char(day, 'YYYY-MM')
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
              FROM (SELECT cohort_month, month_number, sum(subscriptions) AS size, sum(retained) / sum(subscriptions) AS rate
                      FROM retention_cohorts WHERE cohort_month >= MONTHS GROUP BY 1, 2) cells
             GROUP BY cohort_month
            """
        ),
        (
            "lifetime-value",
            """
            SELECT concat_ws('|', to_char(cohort_month, 'YYYY-MM'), max(size), string_agg(MONEY(so_far / size), '|' ORDER BY month_number))
              FROM (SELECT cohort_month, month_number, sum(customers) AS size,
                           sum(sum(net_milliunits * rate)) OVER (PARTITION BY cohort_month ORDER BY month_number) AS so_far
                      FROM lifetime_value_by_cohort JOIN RATES USING (currency)
                     WHERE cohort_month >= MONTHS GROUP BY cohort_month, month_number) cells
             GROUP BY cohort_month
            """
        ),
    ]

    /// The test's short words in SQL; money in USD.
    private func spelled(_ sql: String) -> String {
        sql.replacing(/ANY\((\w+)\)/) {
            "CASE WHEN bool_or(\($0.1) <> 0 OR \($0.1)_estimated_amount <> 0) OVER () THEN MOVED(\($0.1)) END"
        }
        .replacing(/MOVED\((\w+)\)/) {
            "pg_temp.rated_words(\($0.1) <> 0, nullif(\($0.1)_estimated_amount, 0) * 1000)"
        }
        // "no rate": nothing of the amount has a rate, and either a part of the amount lacks one, or nothing of the row has one.
        // A table's `whole` is not zero where a row has any amount.
        .replacing(
            "NET",
            with: """
                pg_temp.rated_words(bool_or(rate IS NULL AND whole <> 0),
                                    sum(net_milliunits * rate) FILTER (WHERE whole <> 0))
                """
        )
        .replacing(/RATED\((\(.+?\)|\w+)\)/) {
            """
            pg_temp.rated_words(CASE WHEN max(rate) FILTER (WHERE whole <> 0) IS NULL THEN bool_or(whole <> 0)
                                     ELSE bool_or(rate IS NULL AND \($0.1) <> 0) END, nullif(sum(\($0.1) * rate), 0))
            """
        }
        .replacing("RATES", with: "(VALUES ('EUR', 2), ('USD', 1)) r (currency, rate)")
        .replacing("UNRATED", with: "currency NOT IN ('EUR', 'USD')").replacing(
            "MONTHS",
            with: "(date_trunc('month', now()) - interval '24 months')::date"
        )
        .replacing("YEAR", with: "(date_trunc('month', now()) - interval '12 months')::date")
        .replacing("MONTH)", with: "date_trunc('month', now()))").replacing(
            "MONTH ",
            with: "date_trunc('month', now()) "
        )
        .replacing("MONEY(", with: "pg_temp.money_words(")
    }

    @Test func `every table says what the views say`() async throws {
        try await withPage { stage, page in
            for (id, sql) in Self.tables {
                let spelled = spelled(sql)
                let expected = try await TemporaryDatabase.pool(size: 1).withConnection { connection in
                    try connection.script(
                        """
                        SET search_path = appstore; SET TimeZone = 'UTC';
                        CREATE FUNCTION pg_temp.money_words(amount numeric) RETURNS text LANGUAGE sql AS $$
                            SELECT to_char(coalesce(amount, 0) / 1000, 'FM999999999990.00')
                        $$;
                        CREATE FUNCTION pg_temp.rated_words(lacks boolean, amount numeric) RETURNS text LANGUAGE sql AS $$
                            SELECT CASE WHEN lacks AND amount IS NULL THEN 'no rate' ELSE pg_temp.money_words(amount) END
                        $$;
                        """
                    )
                    return try connection.run("SELECT words FROM (\(spelled)) AS rows (words)").map {
                        try $0.text("words")
                    }
                }
                // The view has no row for a month of nothing.
                let rows = page.table(id).filter {
                    $0.dropFirst().contains { !["0", "0.00", "–", "0.00%"].contains($0) }
                }
                .map { $0.filter { !$0.isEmpty }.joined(separator: "|") }
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
            #expect(page.html.count > 20_000)
            #expect(page.html.firstMatch(of: /[0-9]{12,}/) == nil, "an ID of Apple's is on the page")
            #expect(page.html.firstMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-/) == nil, "a UUID is on the page")
            #expect(!page.html.contains("eyJ"))
            let addresses = page.html.matches(of: /(?:src|href|action|srcset|poster|data|formaction)="([^"]*)"/).map(
                \.1
            )
            // The others lead to a section of the page itself.
            #expect(addresses.filter { !$0.hasPrefix("#") } == ["data:,"])
            for section in addresses.filter({ $0.hasPrefix("#") }) {
                #expect(page.html.contains(" id=\"\(section.dropFirst())\""))
            }
            #expect(page.html.firstMatch(of: /url\((?!#)|@import|https?:/) == nil)
            for name in [
                "section", "table", "details", "main", "header", "nav", "a", "form", "script", "tr", "th", "td",
                "bdi", "dl",
            ] {
                let opened = page.html.matches(of: try Regex("<\(name)[ >]")).count
                #expect(opened == page.html.matches(of: try Regex("</\(name)>")).count, "\(name)")
            }
            let identifiers = page.html.matches(of: #/ id="([^"]*)"/#).map { String($0.1) }
            #expect(Set(identifiers).count == identifiers.count, "an ID is on the page twice")
            for table in page.html.split(separator: "<table").dropFirst() {
                for part in ["<caption>", "<th scope=\"col\""] { #expect(table.contains(part)) }
                // A table can have no row: this world has no rules for proceeds.
                #expect(table.contains("<th scope=\"row\"") || table.contains("<tbody>\n</tbody>"))
            }
        }
    }

    @Test(.enabled(if: Chromium.path != nil, Comment(rawValue: Chromium.missing)))
    func `a browser draws every chart, logs nothing and sends no request, and the policy stops what is forged`()
        async throws
    {
        try await withPage { stage, page in
            let file = stage.directory + "/report.html"
            let visit = try await Chromium.visit(file, in: stage.directory)
            #expect(visit.console == [])
            #expect(visit.requests == [])
            let drawn = try #require(visit.document.firstMatch(of: /data-charts="([0-9]+)"/).flatMap { Int($0.1) })
            #expect(drawn > 30)
            #expect(visit.document.contains("<title>com.example.game: App Store ledger</title>"))

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

    @Test(
        .enabled(if: Chromium.hasDriver, Comment(rawValue: Chromium.missingDriver)),
        .enabled("Selenium is not installed (scripts/lib/install.sh, install_python_packages)") {
            await PythonScript.canImport("selenium")
        }
    )
    func
        `a reader's choice shows what SQL says of it, in light, dark, on a phone, on paper and with the keyboard alone`()
        async throws
    {
        try await withPage { stage, page in
            let said = try await PythonScript.run(
                "ReportBrowser/explore.py",
                stage.directory + "/report.html",
                try TemporaryDatabase.conninfo,
                variables: ["HOME": stage.directory]
            )
            #expect(said.hasSuffix("everything agrees\n"), "\(said)")
        }
    }
}
