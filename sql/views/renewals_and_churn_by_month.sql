-- How many subscriptions renewed this month, how many churned, and why?
--
-- The definition is RevenueCat's: churn is the paid subscriptions that expired in the period, less those that resubscribed
-- in it, divided by those active at its start. Here a churned subscription is active at the end of the previous month and
-- not active at the end of this month. The reason comes from the revocation, from renewal info signed after the last period
-- began (expirationIntent), or from an EXPIRED notification. Apple keeps notifications for 180 days, so the reasons for
-- older churn can be unknown.
CREATE MATERIALIZED VIEW IF NOT EXISTS renewals_and_churn_by_month AS
WITH state AS (
    SELECT app_id, original_transaction_id, (month + interval '1 month')::date AS next_month, product_id,
           lead(month) OVER (PARTITION BY app_id, original_transaction_id ORDER BY month) AS after_month
      FROM subscription_months_at_refresh
), lost AS MATERIALIZED (
    SELECT s.app_id, s.next_month AS month, (s.next_month + interval '1 month') AT TIME ZONE 'UTC' AS month_ends_at,
           s.product_id, s.original_transaction_id
      FROM state s
     WHERE s.after_month IS DISTINCT FROM s.next_month AND s.next_month < (now() AT TIME ZONE 'UTC')
), explained AS (
    SELECT l.app_id, l.month, l.product_id, CASE
        WHEN p.revocation_date < p.expires_date AND p.revocation_date < now() THEN 'refund'
        WHEN last_known.expiration_intent = 1 THEN 'voluntary'
        WHEN last_known.expiration_intent = 2 OR last_known.is_in_billing_retry_period THEN 'billing'
        WHEN last_known.expiration_intent = 3 THEN 'price'
        WHEN last_known.expiration_intent IS NOT NULL THEN 'other'
        WHEN said.reason IS NOT NULL THEN said.reason
        WHEN last_known.auto_renew_status = 0 THEN 'voluntary'
        ELSE 'unknown'
    END AS reason
      FROM lost l
      -- The last period that began before the end of the month, possibly in the month itself.
      JOIN subscription_periods_at_refresh p ON p.app_id = l.app_id AND p.original_transaction_id = l.original_transaction_id
       AND p.starts_at < l.month_ends_at AND coalesce(p.next_starts_at, 'infinity') >= l.month_ends_at
      -- The ledger keeps only the newest renewal info, so it explains only the subscription's last period.
      LEFT JOIN renewals_signed last_known ON last_known.app_id = l.app_id
            AND last_known.original_transaction_id = l.original_transaction_id
            AND last_known.last_signed_date >= p.starts_at AND p.next_starts_at IS NULL
      LEFT JOIN LATERAL (
          SELECT CASE
              WHEN n.notification_type <> 'EXPIRED' OR n.subtype = 'BILLING_RETRY' THEN 'billing'
              WHEN n.subtype = 'VOLUNTARY' THEN 'voluntary'
              WHEN n.subtype = 'PRICE_INCREASE' THEN 'price'
              ELSE 'other'
          END AS reason
            FROM notifications n
           WHERE n.app_id = l.app_id AND n.transaction_id = p.transaction_id
             AND n.notification_type IN ('EXPIRED', 'GRACE_PERIOD_EXPIRED', 'DID_FAIL_TO_RENEW')
           ORDER BY n.notification_type = 'EXPIRED' DESC, n.signed_date DESC
           LIMIT 1
      ) said ON true
), renewal AS (
    SELECT app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date AS month, product_id, transaction_id,
           payment_number = 1 AS is_first
      FROM subscription_periods_at_refresh
     WHERE is_paid AND transaction_reason = 'RENEWAL' AND starts_at <= now()
), counted AS (
    SELECT app_id, next_month AS month, product_id,
           count(*) AS active_at_start, 0 AS renewals, 0 AS recovered, 0 AS churned, NULL::text AS reason, 0 AS conversions
      FROM state WHERE next_month < (now() AT TIME ZONE 'UTC')
     GROUP BY app_id, next_month, product_id
    UNION ALL
    SELECT app_id, month, product_id, 0, count(*), 0, 0, NULL, 0 FROM renewal GROUP BY app_id, month, product_id
    UNION ALL
    SELECT app_id, month, product_id, 0, 0, count(*), 0, NULL, 0
      FROM renewal
     WHERE (app_id, transaction_id) IN (SELECT app_id, next_transaction_id FROM subscription_periods_at_refresh
                                         WHERE next_starts_at > expires_date AND ended_by = 'expiry')
     GROUP BY app_id, month, product_id
    UNION ALL
    SELECT app_id, month, product_id, 0, 0, 0, count(*), reason, 0 FROM explained GROUP BY app_id, month, product_id, reason
    UNION ALL
    SELECT app_id, month, product_id, 0, 0, 0, 0, NULL, count(*)
      FROM renewal
     WHERE is_first AND (app_id, transaction_id) IN (SELECT app_id, next_transaction_id FROM subscription_periods_at_refresh WHERE is_trial)
     GROUP BY app_id, month, product_id
)
SELECT
    app_id, month, product_id,
    sum(active_at_start)::bigint AS active_at_start,
    sum(renewals)::bigint AS renewals,
    sum(recovered)::bigint AS renewals_after_a_gap,
    sum(churned)::bigint AS churned,
    coalesce(sum(churned) FILTER (WHERE reason = 'voluntary'), 0)::bigint AS churned_voluntary,
    coalesce(sum(churned) FILTER (WHERE reason = 'billing'), 0)::bigint AS churned_billing,
    coalesce(sum(churned) FILTER (WHERE reason = 'price'), 0)::bigint AS churned_price,
    coalesce(sum(churned) FILTER (WHERE reason = 'refund'), 0)::bigint AS churned_refund,
    coalesce(sum(churned) FILTER (WHERE reason = 'other'), 0)::bigint AS churned_other,
    coalesce(sum(churned) FILTER (WHERE reason = 'unknown'), 0)::bigint AS churned_unknown,
    round(sum(churned) / nullif(sum(active_at_start), 0), 4) AS churn_rate,
    sum(conversions)::bigint AS trial_conversions
FROM counted
GROUP BY app_id, month, product_id
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS renewals_and_churn_by_month_key
    ON renewals_and_churn_by_month (app_id, month, product_id) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW renewals_and_churn_by_month IS
    'Paid subscriptions that renewed or churned, by month and by the product they had, and the reasons for churn. The row of the current month is as of the last refresh.';
COMMENT ON COLUMN renewals_and_churn_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN renewals_and_churn_by_month.active_at_start IS 'Paid subscriptions to the product that were active at the end of the month before.';
COMMENT ON COLUMN renewals_and_churn_by_month.renewals IS 'Paid periods that began in the month with transactionReason RENEWAL.';
COMMENT ON COLUMN renewals_and_churn_by_month.renewals_after_a_gap IS 'Renewals that began after the previous period had expired, in the grace period or later: recovered payments, in the month of the recovery. billing_recovery_by_month has the outcome of all failed payments.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned IS 'Subscriptions of active_at_start that are not active at the end of the month.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_voluntary IS 'Churned because the customer turned off auto-renewal.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_billing IS 'Churned because Apple could not charge the customer. Apple may still be retrying.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_price IS 'Churned because the customer did not consent to a price increase.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_refund IS 'Churned because Apple refunded a period that had not expired.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_other IS 'Churned because the product was not available, or for another value of Apple''s expirationIntent.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_unknown IS 'Churned for an unknown reason: neither the transaction, nor renewal info, nor a stored notification contains one.';
COMMENT ON COLUMN renewals_and_churn_by_month.churn_rate IS 'churned divided by active_at_start, 0 to 1. NULL if nothing was active. To combine products, divide the sums.';
COMMENT ON COLUMN renewals_and_churn_by_month.trial_conversions IS
    'Those of renewals that are the first payment after a free trial. Apple''s transactionReason for them is RENEWAL; RevenueCat counts them separately as trial conversions. Subtract them to get renewals only.';
