-- At the ends of which months was each changed subscription active, and with which MRR?
--
-- A span is one paid period: active at the end of each month from from_month on, and no longer at the end of
-- until_month. A period in which some seats were refunded has a span for each MRR. A month ends at midnight UTC; a period that begins at that instant belongs to the next month. Until a
-- month has ended, its last instant is as_of. So until_month is NULL for a period that is active as of then. Periods
-- within one month have no row. These are the months of subscription_months, without one row for each.
CREATE OR REPLACE VIEW refresh_changed_month_spans AS
SELECT *
FROM (
    SELECT
        p.is_beside, p.sign, p.as_of, p.app_id, p.original_transaction_id, p.period_number, p.product_id, p.period, p.storefront, p.currency,
        part.mrr_milliunits,
        date_trunc('month', p.first_paid_at AT TIME ZONE 'UTC')::date AS first_paid_month,
        date_trunc('month', part.starts_at AT TIME ZONE 'UTC')::date AS from_month,
        CASE WHEN part.ends_at < p.as_of THEN date_trunc('month', part.ends_at AT TIME ZONE 'UTC')::date END AS until_month
    FROM refresh_changed_subscription_periods p
    CROSS JOIN LATERAL (
        SELECT coalesce(p.seat_refunds_at[array_length(p.seat_refunds_at, 1)], p.starts_at) AS starts_at, p.ends_at, p.mrr_milliunits
        UNION ALL
        SELECT coalesce(p.seat_refunds_at[n - 1], p.starts_at), p.seat_refunds_at[n], p.mrr_before_seat_refunds[n]
          FROM generate_subscripts(p.seat_refunds_at, 1) n
    ) part
    WHERE p.is_paid AND p.ends_at IS NOT NULL AND part.starts_at < p.as_of
) span
WHERE from_month < coalesce(until_month, 'infinity');
