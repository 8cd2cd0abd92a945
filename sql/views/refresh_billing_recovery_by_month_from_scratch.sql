-- What does billing_recovery_by_month show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of billing_recovery_by_month.
CREATE OR REPLACE VIEW refresh_billing_recovery_by_month_from_scratch AS
WITH failure AS (
    SELECT app_id || ' ' || t.original_transaction_id || ' ' || coalesce(t.web_order_line_item_id, transaction_id) AS key, true AS is_told
      FROM notifications JOIN transactions t USING (app_id, transaction_id)
     WHERE notification_type IN ('DID_FAIL_TO_RENEW', 'GRACE_PERIOD_EXPIRED')
        OR notification_type = 'EXPIRED' AND subtype = 'BILLING_RETRY'
     GROUP BY app_id || ' ' || t.original_transaction_id || ' ' || coalesce(t.web_order_line_item_id, transaction_id)
), recovery AS (
    SELECT app_id || ' ' || t.original_transaction_id || ' ' || coalesce(t.web_order_line_item_id, transaction_id) AS key, min(n.signed_date) AS recovered_at
      FROM notifications n JOIN transactions t USING (app_id, transaction_id)
     WHERE notification_type = 'DID_RENEW' AND subtype = 'BILLING_RECOVERY'
     GROUP BY app_id || ' ' || t.original_transaction_id || ' ' || coalesce(t.web_order_line_item_id, transaction_id)
), ended AS (
    -- Joined before the rows are filtered: the planner knows the number of periods, but estimates only a few expired
    -- ones.
    SELECT
        p.app_id, p.product_id, p.is_family_shared, p.expires_date, p.grace_until, p.has_expired, p.has_gap, p.revocation_date, p.next_starts_at,
        failure.is_told AS has_failed, lead(recovery.recovered_at) OVER subscription AS recovered_at, r.is_in_billing_retry_period, r.expiration_intent, r.last_signed_date,
        lead(p.transaction_reason) OVER subscription IS NOT DISTINCT FROM 'RENEWAL' AS is_renewed
    FROM subscription_periods_at_refresh p
    LEFT JOIN failure ON failure.key = p.app_id || ' ' || p.original_transaction_id || ' ' || coalesce(p.web_order_line_item_id, p.transaction_id)
    LEFT JOIN recovery ON recovery.key = p.app_id || ' ' || p.original_transaction_id || ' ' || coalesce(p.web_order_line_item_id, p.transaction_id)
    LEFT JOIN renewals_signed r ON r.app_id = p.app_id AND r.original_transaction_id = p.original_transaction_id
         AND r.last_signed_date >= p.starts_at AND p.next_starts_at IS NULL
    WINDOW subscription AS (PARTITION BY p.app_id, p.original_transaction_id ORDER BY p.period_number)
), failed AS (
    SELECT
        e.app_id, date_trunc('month', e.expires_date AT TIME ZONE 'UTC')::date AS month, e.product_id,
        -- A recovery in the grace period changes no date of the period; the notification has the time of the
        -- recovery.
        CASE WHEN e.is_renewed THEN greatest(e.next_starts_at, e.recovered_at) - e.expires_date END AS delay,
        e.next_starts_at IS NULL AND (e.revocation_date <= now()) IS NOT TRUE
            AND (coalesce(e.grace_until > now(), false)
                 OR coalesce(e.is_in_billing_retry_period
                            AND greatest(e.expires_date, e.last_signed_date) + interval '60 days' > now(), false)) AS is_tried
    FROM ended e
    WHERE e.has_expired AND NOT e.is_family_shared AND e.expires_date <= now()
      AND (e.has_failed
           OR CASE WHEN e.is_renewed THEN e.has_gap OR e.recovered_at IS NOT NULL
                   ELSE e.is_in_billing_retry_period OR e.expiration_intent = 2 END)
)
SELECT
    app_id, month, product_id,
    count(*) AS failed,
    count(delay) AS recovered,
    count(*) FILTER (WHERE is_tried) AS still_tried,
    count(*) FILTER (WHERE delay IS NULL AND NOT is_tried) AS lost,
    CASE WHEN month >= told.since AT TIME ZONE 'UTC' THEN round(count(delay)::numeric / nullif(count(*) FILTER (WHERE NOT is_tried), 0), 4) END AS recovery_rate,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY delay) AS median_time_to_recovery,
    told.since AS notifications_since
FROM failed
LEFT JOIN (SELECT app_id, min(signed_date) AS since FROM notifications GROUP BY app_id) told USING (app_id)
GROUP BY app_id, month, product_id, told.since;
