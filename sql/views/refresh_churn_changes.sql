-- What do the subscriptions that changed add to refresh_churn_totals?
--
-- The reasons are the same as in renewals_and_churn_by_month.
CREATE OR REPLACE VIEW refresh_churn_changes AS
WITH renewal AS (
    SELECT sign, app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date AS month, product_id, payment_number = 1 AS is_first,
           previous_is_trial, is_after_gap
      FROM refresh_changed_periods
     WHERE is_paid AND transaction_reason = 'RENEWAL' AND starts_at <= as_of
), lost AS (
    SELECT sign, as_of, app_id, original_transaction_id, product_id, until_month AS month,
           (until_month + interval '1 month') AT TIME ZONE 'UTC' AS month_ends_at
      FROM refresh_changed_month_steps
     WHERE until_month IS NOT NULL AND after_from_month IS DISTINCT FROM until_month
), explained AS (
    SELECT l.sign, l.app_id, l.month, l.product_id, CASE
        WHEN p.revocation_date < p.expires_date AND p.revocation_date < l.as_of THEN 'refund'
        WHEN p.is_last AND p.expiration_intent = 1 THEN 'voluntary'
        WHEN p.is_last AND (p.expiration_intent = 2 OR p.is_in_billing_retry_period) THEN 'billing'
        WHEN p.is_last AND p.expiration_intent = 3 THEN 'price'
        WHEN p.is_last AND p.expiration_intent IS NOT NULL THEN 'other'
        WHEN p.expiry_reason IS NOT NULL THEN p.expiry_reason
        WHEN p.is_last AND p.auto_renew_status = 0 THEN 'voluntary'
        ELSE 'unknown'
    END AS reason
      FROM lost l
      -- The last period that began before the end of the month, possibly in the month itself.
      JOIN refresh_changed_subscription_periods p ON p.sign = l.sign AND p.app_id = l.app_id AND p.original_transaction_id = l.original_transaction_id
       AND p.starts_at < l.month_ends_at AND coalesce(p.next_starts_at, 'infinity') >= l.month_ends_at
), counted AS (
    SELECT app_id, month, product_id, sum(sign) AS renewals, sum(sign) FILTER (WHERE is_after_gap) AS recovered,
           sum(sign) FILTER (WHERE is_first AND previous_is_trial) AS conversions,
           0 AS voluntary, 0 AS billing, 0 AS price, 0 AS refund, 0 AS other, 0 AS unknown
      FROM renewal GROUP BY app_id, month, product_id
    UNION ALL
    SELECT app_id, month, product_id, 0, 0, 0,
           sum(sign) FILTER (WHERE reason = 'voluntary'), sum(sign) FILTER (WHERE reason = 'billing'),
           sum(sign) FILTER (WHERE reason = 'price'), sum(sign) FILTER (WHERE reason = 'refund'),
           sum(sign) FILTER (WHERE reason = 'other'), sum(sign) FILTER (WHERE reason = 'unknown')
      FROM explained GROUP BY app_id, month, product_id
)
SELECT
    app_id, month, product_id,
    sum(renewals) AS renewals, sum(recovered) AS recovered, sum(conversions) AS conversions,
    sum(voluntary) AS voluntary, sum(billing) AS billing, sum(price) AS price, sum(refund) AS refund, sum(other) AS other,
    sum(unknown) AS unknown
FROM counted
GROUP BY app_id, month, product_id;
