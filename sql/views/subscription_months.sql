-- Which paid subscriptions were active at the end of each month?
--
-- RevenueCat: active are unexpired, paid subscriptions at the end of each period charted, neither trials nor shared ones.
-- One that is cancelled but has not run out is active. A month ends at midnight UTC; what begins in that instant belongs
-- to the next. The month under way is looked at as it is now. A stretch without an expiresDate is in no month: its end is unknown.
CREATE OR REPLACE VIEW subscription_months AS
SELECT
    p.app_id, p.original_transaction_id,
    generate_series(
        date_trunc('month', p.starts_at AT TIME ZONE 'UTC'),
        -- The month that is over when the stretch ends; or that which is under way, unless it has only just begun.
        date_trunc('month', least(p.ends_at, now()) AT TIME ZONE 'UTC')
            - CASE WHEN p.starts_at < now() AND now() <= p.ends_at
                    AND now() <> date_trunc('month', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'
                   THEN interval '0' ELSE interval '1 month' END,
        interval '1 month'
    )::date AS month,
    p.transaction_id, p.product_id, p.period, p.storefront, p.currency, p.mrr_milliunits,
    date_trunc('month', p.first_paid_at AT TIME ZONE 'UTC')::date AS first_paid_month,
    p.mrr_milliunits * 0.001 AS mrr_amount
FROM subscription_periods p
WHERE p.is_paid AND p.ends_at IS NOT NULL;
COMMENT ON VIEW subscription_months IS
    'Every paid subscription that was active at the end of a month, once a month; what MRR, churn and retention are counted from. A payment recovered after a gap is missing in the months whose end lies in the gap; a grace period is no gap. A period without an expiresDate is in no month.';
COMMENT ON COLUMN subscription_months.month IS
    'The first day of the month, in UTC.';
COMMENT ON COLUMN subscription_months.transaction_id IS
    'The transaction that was running at the month''s end.';
COMMENT ON COLUMN subscription_months.period IS
    'The period paid for, ISO 8601; NULL when unknown.';
COMMENT ON COLUMN subscription_months.mrr_milliunits IS
    'What it brings in 30 days, in thousandths of a unit of currency; NULL when price or period are unknown.';
COMMENT ON COLUMN subscription_months.first_paid_month IS
    'The month of the subscription''s first payment; its first day, in UTC.';
