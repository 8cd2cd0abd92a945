-- At the ends of which months was each changed subscription active, with which MRR, and how does each span follow the one before it?
--
-- A span is one paid period: active at the end of each month from from_month on, and no longer at the end of
-- until_month. A period in which some seats were refunded has a span for each MRR. A month ends at midnight UTC; a period that begins at that instant belongs to the next month. Until a
-- month has ended, its last instant is as_of. So until_month is NULL for a period that is active as of then. Periods
-- within one month have no row. These are the months of subscription_months, without one row for each.
--
-- Several totals need these rows, so a refresh computes them once and keeps them in refresh_month_steps until its end.
CREATE OR REPLACE VIEW refresh_month_steps_to_store AS
SELECT
    *,
    lag(until_month) OVER subscription AS before_until_month, lag(currency) OVER subscription AS before_currency,
    coalesce(lag(mrr_milliunits) OVER subscription, 0) AS before_mrr,
    lead(from_month) OVER subscription AS after_from_month, lead(currency) OVER subscription AS after_currency
FROM (
    SELECT
        p.is_beside, p.sign, p.as_of, p.app_id, p.original_transaction_id, p.period_number, p.product_id, p.period, p.storefront, p.currency,
        p.mrr_milliunits,
        date_trunc('month', p.first_paid_at AT TIME ZONE 'UTC')::date AS first_paid_month,
        date_trunc('month', p.starts_at AT TIME ZONE 'UTC')::date AS from_month,
        CASE WHEN p.ends_at < p.as_of THEN date_trunc('month', p.ends_at AT TIME ZONE 'UTC')::date END AS until_month
    FROM (
        SELECT is_beside, sign, as_of, app_id, original_transaction_id, period_number, product_id, period, storefront, currency, mrr_milliunits, first_paid_at,
               coalesce(seat_refunds_at[array_length(seat_refunds_at, 1)], starts_at) AS starts_at, ends_at
          FROM refresh_changed_subscription_periods WHERE is_paid
        UNION ALL
        SELECT is_beside, sign, as_of, app_id, original_transaction_id, period_number, product_id, period, storefront, currency, mrr_before_seat_refunds[n], first_paid_at,
               coalesce(seat_refunds_at[n - 1], starts_at), seat_refunds_at[n]
          FROM refresh_changed_subscription_periods CROSS JOIN LATERAL generate_subscripts(seat_refunds_at, 1) n
         WHERE is_paid AND seat_refunds_at IS NOT NULL AND ends_at IS NOT NULL
    ) p
    WHERE p.starts_at < p.as_of AND p.ends_at IS NOT NULL
) span
WHERE from_month < coalesce(until_month, 'infinity')
WINDOW subscription AS (PARTITION BY sign, app_id, original_transaction_id ORDER BY period_number, from_month);
