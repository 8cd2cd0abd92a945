import Postgres
import TestSupport
import Testing

/// The views about money, against worlds small enough to be worked out by hand.
@Suite(.migratedDatabase)
struct MoneyViewTests {
    /// Purchases of early 2025, some of them refunded.
    static let sales = """
        a  | - | coins.100    | 2025-01-10       | -          | 2000  | quantity=2                      # two for 1.00 each
        b  | - | coins.100    | 2025-01-31 23:59 | -          | 1000  | revocation_date=2025-02-03, revocation_type=REFUND_FULL, revocation_percentage_milliunits=100000, revocation_reason=1
        c  | - | coins.100    | 2025-02-01       | -          | 1000  | revocation_date=2025-02-11, revocation_type=REFUND_PRORATED, revocation_percentage_milliunits=33333, revocation_reason=0
        d  | - | coins.100    | 2025-02-05       | -          | 1100  | currency=EUR, storefront=DEU, revocation_date=2025-03-07   # Apple names no percentage: all of it
        e  | - | coins.100    | 2025-02-06       | -          | -     | currency=-                      # Apple names no price
        s1 | s | plus.monthly | 2025-02-07       | 2025-02-14 | 0     | offer_type=1, offer_discount_type=FREE_TRIAL
        s2 | s | plus.monthly | 2025-02-14       | 2025-03-14 | 10000 | transaction_reason=RENEWAL
        f  | - | plus.monthly | 2025-02-07       | 2025-03-07 | 10000 | in_app_ownership_type=FAMILY_SHARED, revocation_date=2025-02-20, revocation_type=FAMILY_REVOKE
        z  | - | coins.100    | 2025-02-08       | -          | 0     | revocation_date=2025-02-09      # a gift taken back: no money moved
        """

    @Test func `purchases: what is left of each price, to the thousandth`() async throws {
        let world = try await TestLedger()
        try await world.buy(Self.sales)
        #expect(
            try await world.answer(
                """
                SELECT transaction_id, to_char(month, 'MM') AS m, is_paid, is_refunded, to_char(refund_month, 'MM') AS r, refund_reason,
                       price_milliunits, refunded_milliunits, net_milliunits
                  FROM purchases ORDER BY 1
                """
            ) == [
                "a 01 t f - - 2000 0 2000",
                "b 01 t t 02 1 1000 1000 0",
                "c 02 t t 02 0 1000 333 667",
                "d 02 t t 03 - 1100 1100 0",
                "e 02 t f - - - 0 -",
                "s1 02 f f - - 0 0 0",
                "s2 02 t f - - 10000 0 10000",
                "z 02 f t 02 - 0 0 0",
            ]
        )
        // Apple took the refund back: the newest snapshot has no revocation, and the old one in refunds changes nothing.
        try await world.run(
            """
            UPDATE transactions SET revocation_date = NULL, revocation_type = NULL, revocation_percentage_milliunits = NULL WHERE transaction_id = 'b'
            """
        )
        try await world.run(
            """
            INSERT INTO refunds (app_id, transaction_id, price_milliunits, revocation_date, signed_date, payload_sha256, payload)
            VALUES (1, 'b', 1000, '2025-02-03 UTC', '2025-02-03 UTC', '', '{}')
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT is_refunded, net_milliunits FROM purchases WHERE transaction_id = 'b'
                """
            ) == ["f 1000"]
        )
    }

    @Test func `purchases: with Advanced Commerce the items say what was refunded, and never more than was paid`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a | - | ac.charge | 2025-01-10 | - | 5000 |
            b | - | ac.charge | 2025-01-10 | - | 5000 | revocation_date=2025-01-20, revocation_percentage_milliunits=100000
            """
        )
        try await world.run(
            """
            INSERT INTO advanced_commerce_items (app_id, owner_kind, owner_key, position, sku, display_name, price_milliunits, offer_price_milliunits, currency) VALUES
                (1, 'transaction', 'a', 0, 'song', 'A song', 2500, 2000, 'USD'), (1, 'transaction', 'a', 1, 'film', 'A film', 3000, NULL, 'USD'),
                (1, 'transaction', 'b', 0, 'film', 'A film', 5000, NULL, 'USD'), (1, 'renewal', 'a', 0, 'next', 'Another', 1, NULL, 'USD')
            """
        )
        try await world.run(
            """
            INSERT INTO advanced_commerce_refunds (app_id, owner_kind, owner_key, item_position, position, refund_date, refund_amount_milliunits, refund_reason) VALUES
                (1, 'transaction', 'a', 1, 0, '2025-01-12 UTC', 1000, 'LEGAL'), (1, 'transaction', 'a', 1, 1, '2025-02-12 UTC', 500, 'OTHER'),
                (1, 'transaction', 'b', 0, 0, '2025-01-20 UTC', 9000, 'OTHER')
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT transaction_id, to_char(refund_date AT TIME ZONE 'UTC', 'MM-DD') AS r, refunded_milliunits, net_milliunits FROM purchases ORDER BY 1
                """
            )
                == ["a 01-12 1500 3500", "b 01-20 5000 0"]
        )
        #expect(
            try await world.answer(
                """
                SELECT transaction_id, position, sku, price_milliunits, paid_milliunits, paid_amount, customer_key, refunds, refunded_milliunits, net_milliunits, to_char(first_refund_date AT TIME ZONE 'UTC', 'MM-DD') AS r,
                       array_to_string(refund_reasons, '+') AS why
                  FROM advanced_commerce_lines ORDER BY 1, 2
                """
            ) == [
                "a 0 song 2500 2000 2.000 a 0 0 2000 - -", "a 1 film 3000 3000 3.000 a 2 1500 1500 01-12 LEGAL+OTHER",
                "b 0 film 5000 5000 5.000 b 1 9000 -4000 01-20 OTHER",
            ]
        )
    }

    @Test func `a refund's amount: the whole price for REFUND_FULL, else the line items' amounts, else the percentage`()
        async throws
    {
        let world = try await TestLedger()
        // The items of "full" are 6.990 without the tax of 0.489. The items of "items" contain the tax: 4.479 of 7.479.
        try await world.buy(
            """
            full    | - | ac.charge | 2025-01-10 | - | 7479 | revocation_date=2025-01-20, revocation_type=REFUND_FULL, revocation_percentage_milliunits=100000
            items   | - | ac.charge | 2025-01-10 | - | 7479 | revocation_date=2025-01-20
            both    | - | ac.charge | 2025-01-10 | - | 41650 | revocation_date=2025-01-20, revocation_type=REFUND_PRORATED, revocation_percentage_milliunits=4860
            percent | - | coins     | 2025-01-10 | - | 9990 | revocation_date=2025-01-20, revocation_type=REFUND_PRORATED, revocation_percentage_milliunits=33333
            untold  | - | coins     | 2025-01-10 | - | 9990 | revocation_date=2025-01-20
            """
        )
        try await world.run(
            """
            INSERT INTO advanced_commerce_refunds (app_id, owner_kind, owner_key, item_position, position, refund_date, refund_amount_milliunits) VALUES
                (1, 'transaction', 'full', 0, 0, '2025-01-20 UTC', 6990), (1, 'transaction', 'items', 1, 0, '2025-01-20 UTC', 4479),
                (1, 'transaction', 'both', 0, 0, '2025-01-20 UTC', 3125), (1, 'transaction', 'both', 0, 1, '2025-01-20 UTC', 10000)
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT transaction_id, refunded_milliunits, net_milliunits FROM purchases ORDER BY 1
                """
            )
                == ["both 13125 28525", "full 7479 0", "items 4479 3000", "percent 3330 6660", "untold 9990 0"]
        )
        #expect(
            try await world.answer(
                """
                SELECT transaction_id, refunded_milliunits, refunded_share FROM refunded_purchases ORDER BY 1
                """
            )
                == [
                    "both 13125 0.31513", "full 7479 1.00000", "items 4479 0.59888", "percent 3330 0.33333",
                    "untold 9990 1.00000",
                ]
        )
        // The same from the totals of a refresh and from every record: 7479 + 4479 + 13125, and 3330 + 9990.
        for view in ["revenue_by_month", "(\(try #require(Oracle.queries["revenue_by_month"]))) every_record"] {
            #expect(
                try await world.answer(
                    "SELECT product_id, gross_milliunits, refunds, refunded_milliunits, net_milliunits FROM \(view) ORDER BY 1"
                ) == ["ac.charge 56608 3 25083 31525", "coins 19980 2 13320 6660"]
            )
        }
    }

    /// Upgrades of 2025, and changes that give no estimate.
    static let upgrades = """
        a1 | a | plus.monthly | 2025-06-01 | 2025-07-01 | 9990   | is_upgraded=true # upgraded with 20 of 30 days left
        a2 | a | plus.yearly  | 2025-06-11 | 2026-06-11 | 99990  |
        b1 | b | plus.monthly | 2025-06-25 | 2025-07-25 | 10000  | is_upgraded=true # upgraded in the next month, with 13 of 30 days left
        b2 | b | plus.yearly  | 2025-07-12 | 2026-07-12 | 120000 |
        c1 | c | plus.monthly | 2025-06-01 | 2025-06-08 | 0      | is_upgraded=true, offer_type=1, offer_discount_type=FREE_TRIAL
        c2 | c | plus.yearly  | 2025-06-04 | 2026-06-04 | 120000 | # a trial costs nothing
        d1 | d | plus.monthly | 2025-06-01 | 2025-07-01 | 10000  | is_upgraded=true, currency=EUR
        d2 | d | plus.yearly  | 2025-06-11 | 2026-06-11 | 120000 | # paid in another currency
        e1 | e | plus.monthly | 2025-06-01 | -          | 10000  | is_upgraded=true, type=Auto-Renewable Subscription
        e2 | e | plus.yearly  | 2025-06-11 | 2026-06-11 | 120000 | # Apple names no expiresDate
        f1 | f | plus.yearly  | 2024-06-11 | 2025-06-11 | 120000 |
        f2 | f | plus.monthly | 2025-06-11 | 2025-07-11 | 10000  | transaction_reason=RENEWAL # a downgrade, at the end of the period
        g1 | g | plus.monthly | 2025-06-01 | 2025-07-01 | 10000  | is_upgraded=true, revocation_date=2025-06-20 # refunded as well, as Apple says
        g2 | g | plus.yearly  | 2025-06-11 | 2026-06-11 | 120000 |
        h1 | h | plus.monthly | 2025-06-01 | 2025-07-01 | 10000  | is_upgraded=true # the upgrade is not in the ledger yet
        i1 | i | plus.monthly | 2025-06-01 | 2025-07-01 | -      | is_upgraded=true # Apple names no price
        i2 | i | plus.yearly  | 2025-06-11 | 2026-06-11 | 120000 |
        """

    @Test func `the refund of an upgrade is estimated in a separate column, and changes no other figure`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.upgrades)
        #expect(
            try await world.answer(
                """
                SELECT transaction_id, estimated_upgrade_refund_milliunits FROM subscription_periods
                 WHERE estimated_upgrade_refund_milliunits IS NOT NULL ORDER BY 1
                """
            ) == ["a1 6660", "b1 4333"]
        )
        #expect(
            try await world.answer(
                """
                SELECT product_id, to_char(month, 'MM') AS m, purchases, gross_milliunits, refunds, refunded_milliunits, net_milliunits,
                       estimated_upgrade_refunds, estimated_upgrade_refund_milliunits
                  FROM revenue_by_month WHERE currency = 'USD' AND product_id = 'plus.monthly' ORDER BY 1, 2
                """
            ) == [
                "plus.monthly 06 7 59990 1 10000 49990 1 6660",  // a1, b1, e1, f2, g1, h1, i1
                "plus.monthly 07 0 0 0 0 0 1 4333",  // b1, under the product that was replaced
            ]
        )
        #expect(
            try await world.answer(
                "SELECT transaction_id, is_refunded, net_milliunits FROM purchases WHERE transaction_id = 'a1'"
            )
                == ["a1 f 9990"]
        )
    }

    @Test func `refunded_purchases: why, how long after, and what the customer had asked for`() async throws {
        let world = try await TestLedger()
        try await world.buy(Self.sales)
        try await world.notify(
            """
            n1 | CONSUMPTION_REQUEST | - | 2025-02-01 | b | consumption_request_reason=UNINTENDED_PURCHASE
            n2 | CONSUMPTION_REQUEST | - | 2025-02-02 | b | consumption_request_reason=LEGAL
            n3 | CONSUMPTION_REQUEST | - | 2025-02-04 | b | consumption_request_reason=OTHER   # after the refund: another request
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT transaction_id, extract(day FROM delay) AS days, replace(reason, ' ', '_'), revocation_type, refunded_milliunits, refunded_share, requested_because
                  FROM refunded_purchases ORDER BY 1
                """
            ) == [
                "b 2 issue_with_the_app REFUND_FULL 1000 1.00000 LEGAL", "c 10 other REFUND_PRORATED 333 0.33300 -",
                "d 30 not_told - 1100 1.00000 -", "z 1 not_told - 0 - -",
            ]
        )
    }

    @Test(.slow)
    func `refunded_purchases, which begins with the refunds, and purchases agree on every refund`()
        async throws
    {
        let world = try await TestLedger()
        // Every kind of refund with every other: by revocation, by line item, by both, undated, of gifts and of shared ones.
        try await world.run(
            """
            WITH chance AS MATERIALIZED (SELECT setseed(0.25))
            INSERT INTO transactions (app_id, transaction_id, original_transaction_id, product_id, type, storefront, currency, quantity,
                in_app_ownership_type, purchase_date, price_milliunits, revocation_date, revocation_type,
                revocation_percentage_milliunits, revocation_reason, signed_date, payload_sha256, payload)
            SELECT 1, n::text, n::text, 'coins', 'Consumable', 'USA', 'USD', 1,
                   (ARRAY['PURCHASED', 'PURCHASED', 'PURCHASED', 'FAMILY_SHARED', NULL])[1 + floor(random() * 5)::integer],
                   now() - random() * interval '400 days', (ARRAY[0, NULL, 990, 9990])[1 + floor(random() * 4)::integer],
                   CASE WHEN random() < 0.4 THEN now() - random() * interval '400 days' END,
                   (ARRAY[NULL, 'REFUND_FULL', 'REFUND_PRORATED', 'FAMILY_REVOKE'])[1 + floor(random() * 4)::integer],
                   (ARRAY[NULL, 0, 33333, 100000])[1 + floor(random() * 4)::integer],
                   (ARRAY[NULL, 0, 1])[1 + floor(random() * 3)::integer], now(), '', '{}'
              FROM chance, generate_series(1, 2000) n
            """
        )
        try await world.run(
            """
            WITH chance AS MATERIALIZED (SELECT setseed(0.75))
            INSERT INTO advanced_commerce_refunds (app_id, owner_kind, owner_key, item_position, position, refund_date, refund_amount_milliunits)
            SELECT 1, CASE WHEN random() < 0.8 THEN 'transaction' ELSE 'renewal' END, n::text, 0, place,
                   CASE WHEN random() < 0.8 THEN now() - random() * interval '400 days' END,
                   (ARRAY[NULL, 0, 500, 20000])[1 + floor(random() * 4)::integer]
              FROM chance, generate_series(1, 2200) n, generate_series(0, 1) place WHERE random() < 0.3
            """
        )
        let columns = """
            transaction_id, customer_key, refund_date, refund_month, price_milliunits, refunded_milliunits,
            purchase_date, currency, storefront, product_id
            """
        #expect(
            try await world.rows(
                """
                WITH purchased AS MATERIALIZED (SELECT \(columns) FROM purchases WHERE is_refunded),
                     refunded AS MATERIALIZED (SELECT \(columns) FROM refunded_purchases)
                (TABLE purchased EXCEPT ALL TABLE refunded) UNION ALL (TABLE refunded EXCEPT ALL TABLE purchased)
                """
            ) == []
        )
        #expect(try await world.count("refunded_purchases") > 500)
    }

    @Test func `revenue_by_month: sales in the month of the purchase, refunds in theirs, one currency a row`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.sales)
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, product_id, storefront, currency, purchases, units, free_purchases, gross_milliunits, refunds, refunded_milliunits, net_milliunits, without_price
                  FROM revenue_by_month ORDER BY month, product_id, storefront, currency
                """
            ) == [
                "01 coins.100 USA USD 2 3 0 3000 0 0 3000 0",  // a, b
                "02 coins.100 DEU EUR 1 1 0 1100 0 0 1100 0",  // d
                "02 coins.100 USA USD 1 1 1 1000 2 1333 -333 0",  // c, z; refunds of b, c
                "02 coins.100 USA - 1 1 0 0 0 0 0 1",  // e
                "02 plus.monthly USA USD 1 1 1 10000 0 0 10000 0",  // s2, and the trial
                "03 coins.100 DEU EUR 0 0 0 0 1 1100 -1100 0",  // back went d
            ]
        )
    }

    @Test func `refund_rate_by_month: refunded paid purchases over paid purchases, by the month of the purchase`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.sales)
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, product_id, storefront, currency, purchases, refunded, refund_rate, refunded_for_an_issue, gross_milliunits, refunded_milliunits,
                       extract(epoch FROM median_delay)::integer / 3600 AS hours
                  FROM refund_rate_by_month ORDER BY month, product_id, storefront, currency
                """
            ) == [
                "01 coins.100 USA USD 2 1 0.5000 1 3000 1000 48", "02 coins.100 DEU EUR 1 1 1.0000 0 1100 1100 720",
                "02 coins.100 USA USD 1 1 1.0000 0 1000 333 240", "02 coins.100 USA - 1 0 0.0000 0 0 0 -",
                "02 plus.monthly USA USD 1 0 0.0000 0 10000 0 -",
            ]
        )
    }

    @Test func `lifetime_value_by_cohort: what the payers of a month have brought since, by currency, net of refunds`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | - | coins | 2025-01-10 | - | 1000 | app_transaction_id=A       # A: 1.00, 2.00 two months later, and 5.00 in EUR
            a2 | - | coins | 2025-03-10 | - | 2000 | app_transaction_id=A
            a3 | - | coins | 2025-03-11 | - | 5000 | app_transaction_id=A, currency=EUR
            b1 | - | coins | 2025-01-20 | - | 4000 | listed_transaction_id=B    # B: 4.00, of which 1.00 came back in May, and 3.00
            b2 | - | coins | 2025-02-20 | - | 3000 | listed_transaction_id=B
            c1 | - | coins | 2025-01-05 | - | 0    | app_transaction_id=C       # C never paid
            """
        )
        try await world.run(
            """
            UPDATE transactions SET revocation_date = '2025-05-01 UTC', revocation_percentage_milliunits = 25000 WHERE transaction_id = 'b1'
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(cohort_month, 'MM') AS m, currency, month_number, customers, net_milliunits, cumulative_milliunits, value_milliunits
                  FROM lifetime_value_by_cohort WHERE month_number <= 3 ORDER BY cohort_month, currency, month_number
                """
            ) == [
                "01 USD 0 2 4000 4000 2000", "01 USD 1 2 3000 7000 3500", "01 USD 2 2 2000 9000 4500",
                "01 USD 3 2 0 9000 4500",
                "03 EUR 0 1 5000 5000 5000", "03 EUR 1 1 0 5000 5000", "03 EUR 2 1 0 5000 5000",
                "03 EUR 3 1 0 5000 5000",
            ]
        )
    }

    @Test func `product_prices: every price of one unit without an offer, and the one before it`() async throws {
        let world = try await TestLedger()
        try await world.buy(
            """
            a1 | a | plus.monthly | 2025-01-10 | 2025-02-10 | 10000 |
            b1 | b | plus.monthly | 2025-02-10 | 2025-03-10 | 12000 |                             # dearer for new customers
            a2 | a | plus.monthly | 2025-02-10 | 2025-03-10 | 10000 | transaction_reason=RENEWAL  # a keeps the old price
            c1 | c | plus.monthly | 2025-02-11 | 2025-03-11 | 6000  | offer_type=2                # an offer is no price
            g1 | g | plus.monthly | 2025-02-12 | 2025-03-12 | 5000  | advanced_commerce_request_reference_id=7  # nor is an item's
            d  | - | coins        | 2025-01-10 | -          | 3000  | quantity=3
            e  | - | coins        | 2025-01-11 | -          | 1000  | in_app_ownership_type=FAMILY_SHARED
            f1 | f | plus.monthly | 2025-01-10 | 2025-02-10 | 9000  | currency=EUR, storefront=DEU
            """,
            payloads: [
                "g1": #"{"advancedCommerceInfo": {"items": [{"SKU": "a", "price": 9000, "offer": {"price": 5000}}]}}"#
            ]
        )
        #expect(
            try await world.answer("SELECT transaction_id FROM purchases WHERE has_item_offer") == ["g1"]
        )
        #expect(
            try await world.answer(
                "SELECT count(*) FROM (SELECT * FROM product_prices EXCEPT (\(try #require(Oracle.queries["product_prices"])))) v"
            ) == ["0"]
        )
        #expect(
            try await world.answer(
                """
                SELECT product_id, storefront, price_milliunits, to_char(first_sold_at AT TIME ZONE 'UTC', 'MM-DD') AS f, to_char(last_sold_at AT TIME ZONE 'UTC', 'MM-DD') AS l,
                       to_char(last_new_sale_at AT TIME ZONE 'UTC', 'MM-DD') AS n, purchases, renewals, price_before_milliunits
                  FROM product_prices ORDER BY 1, 2, 3
                """
            ) == [
                "coins USA 1000 01-10 01-10 01-10 1 0 -", "plus.monthly DEU 9000 01-10 01-10 01-10 1 0 -",
                "plus.monthly USA 10000 01-10 02-10 01-10 1 1 -", "plus.monthly USA 12000 02-10 02-10 02-10 1 0 10000",
            ]
        )
        #expect(
            try await world.answer(
                """
                SELECT product_id, purchases, free_purchases, refunded, customers FROM product_summary ORDER BY 1
                """
            )
                == ["coins 1 0 0 1", "plus.monthly 6 0 0 5"]
        )
    }

    @Test func `revenue_converted_by_month: the rate of the day, and no currency added up without one`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.sales)
        #expect(try await world.answer("SELECT * FROM revenue_converted_by_month") == [])
        try await world.run(
            """
            INSERT INTO exchange_rates VALUES ('USD', 'EUR', '2025-01-01', 1.1), ('USD', 'EUR', '2025-02-15', 1.2),
                ('USD', 'EUR', '2025-04-01', 9), ('CHF', 'USD', '2025-01-31', 0.5)
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, reporting_currency, product_id, storefront, gross_estimated_milliunits, refunded_estimated_milliunits, net_estimated_milliunits,
                       array_to_string(currencies_without_rate, '+') AS missing
                  FROM revenue_converted_by_month WHERE product_id = 'coins.100' ORDER BY month, reporting_currency, storefront
                """
            ) == [
                // Two of the three purchases are older than the first rate to CHF.
                "01 CHF coins.100 USA 500 0 500 USD", "01 USD coins.100 USA 3000 0 3000 -",
                "02 CHF coins.100 DEU - - - EUR", "02 CHF coins.100 USA 500 667 -167 -",
                "02 USD coins.100 DEU 1210 0 1210 -", "02 USD coins.100 USA 1000 1333 -333 -",
                "03 CHF coins.100 DEU - - - EUR", "03 USD coins.100 DEU 0 1320 -1320 -",
            ]
        )
    }

    @Test func `proceeds_by_month: the rule of the storefront, else the rule for all, and NULL without one`()
        async throws
    {
        let world = try await TestLedger()
        try await world.buy(Self.sales)
        try await world.run(
            """
            INSERT INTO proceeds_rules VALUES (1, '*', '2025-02-10', 0, 0.3), (1, 'DEU', '2025-01-01', 0.19, 0.15), (1, 'DEU', '2025-03-31', 0, 0)
            """
        )
        #expect(
            try await world.answer(
                """
                SELECT to_char(month, 'MM') AS m, storefront, net_milliunits, tax, commission, proceeds_estimated_milliunits
                  FROM proceeds_by_month WHERE product_id = 'coins.100' AND currency IS NOT NULL ORDER BY month, storefront
                """
            ) == [
                "01 USA 3000 - - -",  // the rule for all came later
                "02 DEU 1100 0.19 0.15 786",  // 1100 / 1.19 * 0.85
                "02 USA -333 0 0.3 -233",
                "03 DEU -1100 0 0 -1100",
            ]
        )
    }
}
