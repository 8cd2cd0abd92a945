-- How many failed payments were recovered, how soon, and how many subscriptions were lost because of them?
--
-- A payment failed if Apple renewed the subscription only after the period expired, or if renewal info or a notification
-- says that Apple could not charge the customer. Apple retries for 60 days, and for some plans longer. Billing retry in
-- renewal info counts for 60 days after Apple signed it. A failure counts in the month in which the period expired.
-- Transactions show every recovery after a gap, at any age. Renewal info shows other failures only for the last period,
-- and Apple keeps notifications for 180 days. So failures are incomplete in months that began before the first notification in the
-- ledger, and the rate of such a month is NULL: it would have almost only recoveries, or almost only losses.
--
-- The notifications are grouped by one key instead of two columns. The planner then knows that the key is unique. With two
-- columns it assumes that app_id alone is, and compares every period of the app with every failure.
--
-- One row for each app_id, month, product_id.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW refresh_billing_recovery_changes AS
SELECT
    app_id, month, product_id,
    sum(sign) AS failed,
    sum(sign) FILTER (WHERE delay IS NOT NULL) AS recovered,
    sum(sign) FILTER (WHERE is_tried) AS still_tried,
    sum(sign) FILTER (WHERE delay IS NULL AND NOT is_tried) AS lost
FROM refresh_changed_failures
GROUP BY app_id, month, product_id;

-- One row for each app_id, month, product_id, delay.
CREATE OR REPLACE VIEW refresh_recovery_time_changes AS
SELECT app_id, month, product_id, delay, sum(sign) AS payments
FROM refresh_changed_failures
WHERE delay IS NOT NULL
GROUP BY app_id, month, product_id, delay;

CREATE OR REPLACE VIEW billing_recovery_by_month AS
SELECT
    app_id, month, product_id,
    sum(failed)::bigint AS failed, sum(recovered)::bigint AS recovered, sum(still_tried)::bigint AS still_tried,
    sum(lost)::bigint AS lost,
    CASE WHEN month >= first_notification.since AT TIME ZONE 'UTC' THEN round(sum(recovered) / nullif(sum(failed) - sum(still_tried), 0), 4) END AS recovery_rate,
    max(median) AS median_time_to_recovery,
    first_notification.since AS notifications_since
FROM (
    SELECT app_id, month, product_id, failed, recovered, still_tried, lost, NULL::interval AS median FROM refresh_billing_recovery_totals
    UNION ALL
    SELECT app_id, month, product_id, 0, 0, 0, 0, percentile_cont(0.5) WITHIN GROUP (ORDER BY delay)
      FROM refresh_recovery_time_totals CROSS JOIN LATERAL generate_series(1, payments) n
     GROUP BY app_id, month, product_id
) counted
LEFT JOIN (
    SELECT a.app_id, (SELECT min(n.signed_date) FROM notifications n WHERE n.app_id = a.app_id) AS since FROM apps a
) first_notification USING (app_id)
GROUP BY app_id, month, product_id, first_notification.since;
COMMENT ON VIEW billing_recovery_by_month IS
    'Failed renewal payments, by the month in which the period expired: recovered, in retry, or lost. Failures are incomplete in months that began before notifications_since: Apple keeps notifications for 180 days, and transactions show only recoveries after a gap. As of the last refresh.';
COMMENT ON COLUMN billing_recovery_by_month.month IS 'The month in which the period expired; its first day, in UTC.';
COMMENT ON COLUMN billing_recovery_by_month.product_id IS 'The product of the period that expired.';
COMMENT ON COLUMN billing_recovery_by_month.failed IS 'Periods whose renewal payment failed at first. Trials count; Family Sharing does not.';
COMMENT ON COLUMN billing_recovery_by_month.recovered IS 'Periods with a failed payment that Apple renewed later.';
COMMENT ON COLUMN billing_recovery_by_month.still_tried IS 'Periods with a failed payment that are in their grace period, or in billing retry according to renewal info. Renewal info counts for 60 days after Apple signed it, or after expiresDate if that is later.';
COMMENT ON COLUMN billing_recovery_by_month.lost IS 'All other periods with a failed payment, including customers who later subscribed again on their own.';
COMMENT ON COLUMN billing_recovery_by_month.recovery_rate IS 'recovered divided by the sum of recovered and lost, 0 to 1. NULL while both are 0, and in months that began before notifications_since. To combine rows, divide the sums.';
COMMENT ON COLUMN billing_recovery_by_month.median_time_to_recovery IS 'Median time from the end of the period to the renewal, for recovered payments.';
COMMENT ON COLUMN billing_recovery_by_month.notifications_since IS
    'When Apple signed the first notification that the ledger has of the app. NULL without notifications.';
