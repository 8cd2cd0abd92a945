-- Which paid subscriptions were active at the end of each month?
--
-- The definition is RevenueCat's: unexpired, paid subscriptions at the end of each period charted, without trials and
-- shared subscriptions. A cancelled subscription is active until it expires. A month ends at midnight UTC; a period that
-- begins at that instant belongs to the next month. The current month shows the present state. A period without an
-- expiresDate is in no month, because its end is unknown.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW subscription_months AS
SELECT
    p.app_id, p.original_transaction_id,
    generate_series(
        date_trunc('month', p.starts_at AT TIME ZONE 'UTC'),
        -- The last month completed before the period ends, or the current month unless it began at this instant.
        date_trunc('month', least(p.ends_at, now()) AT TIME ZONE 'UTC')
            - CASE WHEN p.starts_at < now() AND now() <= p.ends_at
                    AND now() <> date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
                   THEN interval '0' ELSE interval '1 month' END,
        interval '1 month'
    )::date AS month,
    p.transaction_id, p.product_id, p.period, p.storefront, p.currency, p.mrr_milliunits,
    date_trunc('month', p.first_paid_at AT TIME ZONE 'UTC')::date AS first_paid_month,
    p.mrr_milliunits * 0.001 AS mrr_amount
FROM (
    -- A refund of some seats lowers the MRR within the period; see seat_refunds_at.
    SELECT p.app_id, p.original_transaction_id, p.transaction_id, p.product_id, p.period, p.storefront, p.currency, p.first_paid_at,
           part.starts_at, part.ends_at, part.mrr_milliunits
      FROM subscription_periods p
      CROSS JOIN LATERAL (
          SELECT coalesce(p.seat_refunds_at[array_length(p.seat_refunds_at, 1)], p.starts_at) AS starts_at, p.ends_at, p.mrr_milliunits
          UNION ALL
          SELECT coalesce(p.seat_refunds_at[n - 1], p.starts_at), p.seat_refunds_at[n], p.mrr_before_seat_refunds[n]
            FROM generate_subscripts(p.seat_refunds_at, 1) n
      ) part
     WHERE p.is_paid AND p.ends_at IS NOT NULL
) p;
COMMENT ON VIEW subscription_months IS
    'Every paid subscription that was active at the end of a month, one row per month. MRR, churn and retention are computed from these rows. If a payment was recovered after a gap, the months that end in the gap are missing. A grace period is not a gap. A period without an expiresDate is in no month.';
COMMENT ON COLUMN subscription_months.month IS
    'The first day of the month, in UTC.';
COMMENT ON COLUMN subscription_months.transaction_id IS
    'The transaction of the period that was active at the end of the month.';
COMMENT ON COLUMN subscription_months.period IS
    'The nominal period, as an ISO 8601 duration such as P1M. NULL if it is unknown.';
COMMENT ON COLUMN subscription_months.mrr_milliunits IS
    'MRR of the period: its price brought to a month by RevenueCat''s factors (a day times 30, a week times 4, a year divided by 12), in thousandths of a unit of currency. NULL if the price or the period is unknown.';
COMMENT ON COLUMN subscription_months.first_paid_month IS
    'The month of the subscription''s first payment; its first day, in UTC.';
