-- What does renewals_and_churn_by_month show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of renewals_and_churn_by_month.
CREATE OR REPLACE VIEW refresh_renewals_and_churn_by_month_from_scratch AS
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
            JOIN transactions t ON t.app_id = n.app_id AND t.transaction_id = n.transaction_id
           WHERE t.app_id = l.app_id AND t.original_transaction_id = l.original_transaction_id
             AND coalesce(t.web_order_line_item_id, t.transaction_id) = coalesce(p.web_order_line_item_id, p.transaction_id)
             AND n.notification_type IN ('EXPIRED', 'GRACE_PERIOD_EXPIRED', 'DID_FAIL_TO_RENEW')
           ORDER BY n.notification_type = 'EXPIRED' DESC, n.signed_date DESC, n.notification_uuid
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
                                         WHERE has_gap)
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
GROUP BY app_id, month, product_id;
