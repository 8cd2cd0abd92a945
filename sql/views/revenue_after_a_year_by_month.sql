-- How much did subscribers pay after one year of paid service?
--
-- Apple's commission is lower after a subscriber has accumulated one year of paid service in a subscription group
-- (https://developer.apple.com/app-store/subscriptions/#revenue-after-one-year). Days of paid service accumulate across
-- renewals and product changes, and across a payment recovered in the grace period
-- (https://developer.apple.com/help/app-store-connect/manage-subscriptions/enable-billing-grace-period-for-auto-renewable-subscriptions).
-- A lapse of up to 60 days pauses the count. A longer lapse resets it. This view requires 365 days of paid periods of one
-- originalTransactionId before the payment. These are not paid service: free trials, shared and refunded periods, grace
-- periods without recovery, and days by which Apple extended a period. A sale counts in the month of the purchase, a refund
-- in the month of the refund.
CREATE MATERIALIZED VIEW IF NOT EXISTS revenue_after_a_year_by_month AS
WITH paid AS (
    SELECT app_id, original_transaction_id, transaction_id, period_number, product_id, storefront, currency, price_milliunits, starts_at,
           CASE WHEN revocation_date IS NULL AND expires_date IS NOT NULL
                THEN greatest(least(CASE WHEN is_continued THEN ends_at ELSE least(ends_at, expires_date) END,
                                    CASE WHEN is_extended THEN starts_at + period::interval END), starts_at)
                ELSE starts_at END AS served_until
      FROM subscription_periods_at_refresh
     WHERE is_paid
), lapsed AS (
    SELECT *, starts_at - max(served_until) OVER earlier > interval '60 days' AS is_new_count
      FROM paid
    WINDOW earlier AS (PARTITION BY app_id, original_transaction_id ORDER BY period_number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), counted AS (
    SELECT *, count(*) FILTER (WHERE is_new_count) OVER (PARTITION BY app_id, original_transaction_id ORDER BY period_number) AS count_number
      FROM lapsed
), served AS (
    SELECT *, sum(served_until - starts_at) OVER (PARTITION BY app_id, original_transaction_id, count_number ORDER BY period_number
                                                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) >= interval '365 days' AS is_after_a_year
      FROM counted
), later AS MATERIALIZED (
    SELECT * FROM served WHERE is_after_a_year
)
SELECT
    app_id, month, product_id, storefront, currency,
    sum(purchases)::bigint AS purchases,
    sum(gross)::bigint AS gross_milliunits,
    sum(refunded)::bigint AS refunded_milliunits,
    (sum(gross) - sum(refunded))::bigint AS net_milliunits,
    sum(gross) * 0.001 AS gross_amount,
    sum(refunded) * 0.001 AS refunded_amount,
    (sum(gross) - sum(refunded)) * 0.001 AS net_amount
FROM (
    SELECT app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date AS month, product_id, storefront, currency,
           count(*) AS purchases, coalesce(sum(price_milliunits), 0) AS gross, 0 AS refunded
      FROM later
     GROUP BY app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, currency
    UNION ALL
    SELECT app_id, refund_month, product_id, storefront, currency, 0, 0, coalesce(sum(refunded_milliunits), 0)
      FROM purchases_at_refresh
     WHERE is_refunded AND app_id || ' ' || transaction_id IN (SELECT app_id || ' ' || transaction_id FROM later)
     GROUP BY app_id, refund_month, product_id, storefront, currency
) booked
GROUP BY app_id, month, product_id, storefront, currency
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS revenue_after_a_year_by_month_key
    ON revenue_after_a_year_by_month (app_id, month, product_id, storefront, currency) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW revenue_after_a_year_by_month IS
    'The part of revenue_by_month that subscribers paid after one year of paid service. Apple''s commission on it is lower. A year is 365 days; Apple''s data do not contain Apple''s own count.';
COMMENT ON COLUMN revenue_after_a_year_by_month.month IS 'The month of the payment, or of the refund; its first day, in UTC.';
COMMENT ON COLUMN revenue_after_a_year_by_month.purchases IS 'Payments before which the subscriber had accumulated 365 days of paid service.';
COMMENT ON COLUMN revenue_after_a_year_by_month.gross_milliunits IS 'Prices of these payments, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_after_a_year_by_month.refunded_milliunits IS 'Amounts refunded in the month of such payments, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_after_a_year_by_month.net_milliunits IS 'gross_milliunits less refunded_milliunits.';
