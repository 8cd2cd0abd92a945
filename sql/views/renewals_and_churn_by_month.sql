-- How many subscriptions renewed this month, how many were lost, and why?
--
-- RevenueCat: churn is paid subscriptions that expired in the period, less those that resubscribed in it, over those active
-- at its start. Here: active at the end of the month before, and not at the end of this one. Why is known from the
-- revocation, from renewal info signed after the last period began (expirationIntent), or from an EXPIRED notification;
-- Apple keeps notifications for 180 days, so that the reasons of older losses are unknown.
CREATE MATERIALIZED VIEW IF NOT EXISTS renewals_and_churn_by_month AS
WITH state AS (
    SELECT app_id, original_transaction_id, month, product_id,
           lead(month) OVER (PARTITION BY app_id, original_transaction_id ORDER BY month) AS after_month
      FROM subscription_months
), lost AS (
    SELECT s.app_id, (s.month + interval '1 month')::date AS month, s.product_id, s.original_transaction_id
      FROM state s
     WHERE s.after_month IS DISTINCT FROM (s.month + interval '1 month')::date
       AND (s.month + interval '1 month')::date < (now() AT TIME ZONE 'UTC')
), explained AS (
    SELECT l.app_id, l.month, l.product_id, CASE
        WHEN t.revocation_date < t.expires_date AND t.revocation_date < now() THEN 'refund'
        WHEN last_known.expiration_intent = 1 THEN 'voluntary'
        WHEN last_known.expiration_intent = 2 OR last_known.is_in_billing_retry_period THEN 'billing'
        WHEN last_known.expiration_intent = 3 THEN 'price'
        WHEN last_known.expiration_intent IS NOT NULL THEN 'other'
        WHEN said.reason IS NOT NULL THEN said.reason
        WHEN last_known.auto_renew_status = 0 THEN 'voluntary'
        ELSE 'unknown'
    END AS reason
      FROM lost l
      -- The last period that began before the month was over, which may have begun in it.
      CROSS JOIN LATERAL (
          SELECT x.* FROM transactions x
           WHERE x.app_id = l.app_id AND x.original_transaction_id = l.original_transaction_id
             AND x.purchase_date < (l.month + interval '1 month') AT TIME ZONE 'UTC'
           ORDER BY x.purchase_date DESC, x.expires_date DESC, x.transaction_id DESC LIMIT 1
      ) t
      -- Renewal info is kept as it was signed last, so it explains the subscription's last period alone.
      LEFT JOIN renewals last_known ON last_known.app_id = l.app_id
            AND last_known.original_transaction_id = l.original_transaction_id
            AND last_known.signed_date >= t.purchase_date
            AND NOT EXISTS (SELECT FROM transactions later
                             WHERE later.app_id = t.app_id AND later.original_transaction_id = t.original_transaction_id
                               AND later.purchase_date > t.purchase_date)
      LEFT JOIN LATERAL (
          SELECT CASE
              WHEN n.notification_type <> 'EXPIRED' OR n.subtype = 'BILLING_RETRY' THEN 'billing'
              WHEN n.subtype = 'VOLUNTARY' THEN 'voluntary'
              WHEN n.subtype = 'PRICE_INCREASE' THEN 'price'
              ELSE 'other'
          END AS reason
            FROM notifications n
           WHERE n.app_id = l.app_id AND n.transaction_id = t.transaction_id
             AND n.notification_type IN ('EXPIRED', 'GRACE_PERIOD_EXPIRED', 'DID_FAIL_TO_RENEW')
           ORDER BY n.notification_type = 'EXPIRED' DESC, n.signed_date DESC
           LIMIT 1
      ) said ON true
), counted AS (
    SELECT app_id, (month + interval '1 month')::date AS month, product_id,
           1 AS active_at_start, 0 AS renewals, 0 AS recovered, NULL::text AS reason
      FROM state WHERE (month + interval '1 month')::date < (now() AT TIME ZONE 'UTC')
    UNION ALL
    SELECT p.app_id, date_trunc('month', p.starts_at AT TIME ZONE 'UTC')::date, p.product_id, 0,
           1, (p.starts_at > p.before_ends_at AND p.before_ended_by = 'expiry')::integer, NULL
      FROM (SELECT *, lag(ends_at) OVER subscription AS before_ends_at, lag(ended_by) OVER subscription AS before_ended_by
              FROM subscription_periods
            WINDOW subscription AS (PARTITION BY app_id, original_transaction_id ORDER BY period_number)) p
     WHERE p.is_paid AND p.transaction_reason = 'RENEWAL' AND p.starts_at <= now()
    UNION ALL
    SELECT app_id, month, product_id, 0, 0, 0, reason FROM explained
)
SELECT
    app_id, month, product_id,
    sum(active_at_start) AS active_at_start,
    sum(renewals) AS renewals,
    coalesce(sum(recovered), 0) AS renewals_after_a_gap,
    count(reason) AS churned,
    count(*) FILTER (WHERE reason = 'voluntary') AS churned_voluntary,
    count(*) FILTER (WHERE reason = 'billing') AS churned_billing,
    count(*) FILTER (WHERE reason = 'price') AS churned_price,
    count(*) FILTER (WHERE reason = 'refund') AS churned_refund,
    count(*) FILTER (WHERE reason = 'other') AS churned_other,
    count(*) FILTER (WHERE reason = 'unknown') AS churned_unknown,
    round(count(reason) / nullif(sum(active_at_start), 0)::numeric, 4) AS churn_rate
FROM counted
GROUP BY app_id, month, product_id
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS renewals_and_churn_by_month_key
    ON renewals_and_churn_by_month (app_id, month, product_id) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW renewals_and_churn_by_month IS
    'Paid subscriptions that renewed and that were lost, by month and the product they had, and why they were lost. The month under way is as of the last refresh.';
COMMENT ON COLUMN renewals_and_churn_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN renewals_and_churn_by_month.active_at_start IS 'Paid subscriptions to the product that were active at the end of the month before.';
COMMENT ON COLUMN renewals_and_churn_by_month.renewals IS 'Paid periods that began in the month with transactionReason RENEWAL.';
COMMENT ON COLUMN renewals_and_churn_by_month.renewals_after_a_gap IS 'Renewals that began after the period before had expired: payments that Apple recovered, in the month it did; billing_recovery_by_month has what became of those that failed.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned IS 'Subscriptions of active_at_start that are not active at the end of the month.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_voluntary IS 'Lost because the customer switched renewal off.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_billing IS 'Lost because Apple could not charge the customer, whether or not it still tries.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_price IS 'Lost because the customer did not consent to a higher price.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_refund IS 'Lost because Apple refunded a period that had not run out.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_other IS 'Lost because the product was not for sale, or for another reason that Apple knows.';
COMMENT ON COLUMN renewals_and_churn_by_month.churned_unknown IS 'Lost, and nothing that Apple still tells says why.';
COMMENT ON COLUMN renewals_and_churn_by_month.churn_rate IS 'churned over active_at_start, 0 to 1; NULL when nothing was active. For several products divide the sums.';
