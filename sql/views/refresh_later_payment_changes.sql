-- What do the subscriptions that changed add to refresh_later_payment_totals?
--
-- The rules are those of revenue_after_a_year_by_month.
CREATE OR REPLACE VIEW refresh_later_payment_changes AS
WITH paid AS (
    SELECT sign, app_id, original_transaction_id, transaction_id, period_number, product_id, storefront, currency, price_milliunits, starts_at,
           CASE WHEN revocation_date IS NULL AND expires_date IS NOT NULL
                THEN greatest(least(CASE WHEN is_continued THEN ends_at ELSE least(ends_at, expires_date) END,
                                    CASE WHEN is_extended THEN starts_at + period::interval END), starts_at)
                ELSE starts_at END AS served_until
      FROM refresh_changed_periods
     WHERE is_paid
), lapsed AS (
    SELECT *, starts_at - max(served_until) OVER earlier > interval '60 days' AS is_new_count
      FROM paid
    WINDOW earlier AS (PARTITION BY sign, app_id, original_transaction_id ORDER BY period_number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), counted AS (
    SELECT *, count(*) FILTER (WHERE is_new_count) OVER (PARTITION BY sign, app_id, original_transaction_id ORDER BY period_number) AS count_number
      FROM lapsed
), served AS (
    SELECT *, sum(served_until - starts_at) OVER (PARTITION BY sign, app_id, original_transaction_id, count_number ORDER BY period_number
                                                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) >= interval '365 days' AS is_after_a_year
      FROM counted
), later AS MATERIALIZED (
    SELECT * FROM served WHERE is_after_a_year
)
SELECT
    app_id, month, product_id, storefront, currency,
    sum(purchases) AS purchases, sum(gross) AS gross_milliunits, sum(refunds) AS refunds, sum(refunded) AS refunded_milliunits
FROM (
    SELECT app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date AS month, product_id, storefront, currency,
           sum(sign) AS purchases, sum(sign * price_milliunits) AS gross, 0 AS refunds, 0 AS refunded
      FROM later
     GROUP BY app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, currency
    UNION ALL
    SELECT t.app_id, date_trunc('month', t.refund_date AT TIME ZONE 'UTC')::date, t.product_id, t.storefront, t.currency, 0, 0, sum(t.sign), sum(t.sign * t.refunded_milliunits)
      FROM refresh_changed_transactions t
      JOIN later l ON l.sign = t.sign AND l.app_id = t.app_id AND l.transaction_id = t.transaction_id
     WHERE t.is_refunded
     GROUP BY t.app_id, date_trunc('month', t.refund_date AT TIME ZONE 'UTC')::date, t.product_id, t.storefront, t.currency
) booked
GROUP BY app_id, month, product_id, storefront, currency;
