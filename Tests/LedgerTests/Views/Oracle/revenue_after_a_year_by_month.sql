-- What does revenue_after_a_year_by_month show when it is computed from every record?
WITH own AS (
    SELECT app_id, original_transaction_id, transaction_id, period_number, product_id, storefront, currency, price_milliunits, is_paid,
           starts_at, extended_from,
           CASE WHEN revocation_date IS NULL AND expires_date IS NOT NULL
                THEN greatest(CASE WHEN is_continued THEN ends_at ELSE least(ends_at, expires_date) END, starts_at)
                ELSE starts_at END AS covered_until
      FROM subscription_periods
     WHERE NOT is_family_shared
), lapsed AS (
    SELECT *, starts_at - max(covered_until) OVER earlier > interval '60 days' AS is_new_count
      FROM own
    WINDOW earlier AS (PARTITION BY app_id, original_transaction_id ORDER BY period_number ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
), counted AS (
    SELECT *, count(*) FILTER (WHERE is_new_count) OVER (PARTITION BY app_id, original_transaction_id ORDER BY period_number) AS count_number
      FROM lapsed
), served AS (
    SELECT *, sum(least(covered_until, extended_from) - starts_at) FILTER (WHERE is_paid) OVER (
                  PARTITION BY app_id, original_transaction_id, count_number ORDER BY period_number
                  ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) >= interval '365 days' AS is_after_a_year
      FROM counted
), later AS MATERIALIZED (
    SELECT * FROM served WHERE is_paid AND is_after_a_year
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
      FROM purchases
     WHERE is_refunded AND app_id || ' ' || transaction_id IN (SELECT app_id || ' ' || transaction_id FROM later)
     GROUP BY app_id, refund_month, product_id, storefront, currency
) booked
GROUP BY app_id, month, product_id, storefront, currency
