-- How many subscriptions renewed this month, how many churned, and why?
--
-- The definition is RevenueCat's: churn is the paid subscriptions that expired in the period, less those that resubscribed
-- in it, divided by those active at its start. Here a churned subscription is active at the end of the previous month and
-- not active at the end of this month. The reason comes from the revocation, from renewal info signed after the last period
-- began (expirationIntent), or from an EXPIRED notification. Apple keeps notifications for 180 days, so the reasons for
-- older churn can be unknown.
--
-- One row for each app_id, month, product_id.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW refresh_churn_changes AS
WITH renewal AS (
    SELECT sign, app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date AS month, product_id, payment_number = 1 AS is_first,
           previous_is_trial, is_after_gap
      FROM refresh_changed_periods
     WHERE is_paid AND transaction_reason = 'RENEWAL' AND starts_at <= as_of
), lost AS (
    SELECT sign, as_of, app_id, original_transaction_id, product_id, until_month AS month,
           (until_month + interval '1 month') AT TIME ZONE 'UTC' AS month_ends_at
      FROM refresh_month_steps
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

CREATE OR REPLACE VIEW renewals_and_churn_by_month AS
WITH counted AS (
    SELECT app_id, month, product_id, 0::bigint AS active_at_start, renewals, recovered, conversions,
           voluntary, billing, price, refund, other, unknown
      FROM refresh_churn_totals
    UNION ALL
    SELECT app_id, month, product_id, opening, 0, 0, 0, 0, 0, 0, 0, 0, 0
      FROM (SELECT c.app_id, c.month, c.product_id,
                   (sum(sum(c.subscriptions)) OVER (PARTITION BY c.app_id, c.product_id ORDER BY c.month) - sum(c.subscriptions))::bigint
                       AS opening
              FROM (SELECT app_id, month, product_id, subscriptions FROM refresh_mrr_totals
                    UNION ALL
                    SELECT s.app_id, m::date, s.product_id, 0
                      FROM (SELECT app_id, product_id, min(month) AS first_month FROM refresh_mrr_totals GROUP BY app_id, product_id) s
                      CROSS JOIN refresh_state state
                      CROSS JOIN LATERAL generate_series(s.first_month::timestamp, (state.as_of - interval '1 microsecond') AT TIME ZONE 'UTC',
                                                         interval '1 month') m) c
             GROUP BY c.app_id, c.month, c.product_id) opened
     WHERE opening <> 0
)
SELECT
    app_id, month, product_id,
    sum(active_at_start)::bigint AS active_at_start,
    sum(renewals)::bigint AS renewals,
    sum(recovered)::bigint AS renewals_after_a_gap,
    sum(voluntary + billing + price + refund + other + unknown)::bigint AS churned,
    sum(voluntary)::bigint AS churned_voluntary,
    sum(billing)::bigint AS churned_billing,
    sum(price)::bigint AS churned_price,
    sum(refund)::bigint AS churned_refund,
    sum(other)::bigint AS churned_other,
    sum(unknown)::bigint AS churned_unknown,
    round(sum(voluntary + billing + price + refund + other + unknown) / nullif(sum(active_at_start), 0), 4) AS churn_rate,
    sum(conversions)::bigint AS trial_conversions
FROM counted
GROUP BY app_id, month, product_id;
COMMENT ON VIEW renewals_and_churn_by_month IS
    'Paid subscriptions that renewed or churned, by month and by the product they had, and the reasons for churn. The row of the current month is as of the last refresh.';
COMMENT ON COLUMN renewals_and_churn_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN renewals_and_churn_by_month.active_at_start IS 'Paid subscriptions to the product that were active at the end of the month before.';
COMMENT ON COLUMN renewals_and_churn_by_month.renewals IS 'Paid periods that began in the month with transactionReason RENEWAL.';
COMMENT ON COLUMN renewals_and_churn_by_month.renewals_after_a_gap IS 'Renewals whose period began after the previous one had expired, in the grace period or later: a failed payment that was recovered. They count in the month of the recovery. billing_recovery_by_month counts failed payments in the month of the failure.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned IS 'Subscriptions of active_at_start that are not active at the end of the month.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_voluntary IS 'Churned because the customer turned off auto-renewal.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_billing IS 'Churned because Apple could not charge the customer. Apple may still be retrying.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_price IS 'Churned because the customer did not consent to a price increase.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_refund IS 'Churned because Apple refunded a period that had not expired.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_other IS 'Churned because the product was not available, or for another value of Apple''s expirationIntent.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_unknown IS 'Churned for an unknown reason: neither the transaction, nor renewal info, nor a stored notification contains one. An example is a customer who returned later: Apple''s newer renewal info does not contain the earlier reason.';
COMMENT ON COLUMN renewals_and_churn_by_month.churn_rate IS 'churned divided by active_at_start, 0 to 1. Not RevenueCat''s churn rate, which subscription_movement_by_month has. NULL if nothing was active. To combine products, divide the sums.';
COMMENT ON COLUMN renewals_and_churn_by_month.trial_conversions IS
    'Renewals that are the first payment after a free trial. RevenueCat does not count them as renewals: subtract them to compare. A trial whose customer bought again after it had ended (transactionReason PURCHASE) is not here, but in trial_conversions of new_subscriptions_by_day, which is therefore at least as high.';
