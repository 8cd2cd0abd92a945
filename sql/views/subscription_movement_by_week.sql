-- How did the number of paid subscriptions change in each week, by product and storefront?
--
-- The days of subscription_movement_by_day are added up: closing = opening + new + resubscribed + switched_in - expired -
-- switched_out, always. The opening of a week is the closing of the previous week. A product in a storefront has a row for
-- every week in which it has active subscriptions, so rows can be added up over products and storefronts.
--
-- One row for each app_id, week, product_id, storefront.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW subscription_movement_by_week AS
WITH moved AS (
    SELECT app_id, date_trunc('week', day::timestamp)::date AS week, product_id, storefront, sum(new) AS new, sum(resubscribed) AS resubscribed,
           sum(expired) AS expired, sum(switched_in) AS switched_in, sum(switched_out) AS switched_out
      FROM subscription_movement_by_day
     GROUP BY app_id, date_trunc('week', day::timestamp)::date, product_id, storefront
), calendar AS (
    SELECT s.app_id, u::date AS week, s.product_id, s.storefront
      FROM (SELECT app_id, product_id, storefront, min(week) AS first_week FROM moved GROUP BY app_id, product_id, storefront) s
      CROSS JOIN refresh_state state
      CROSS JOIN LATERAL generate_series(s.first_week::timestamp, state.as_of AT TIME ZONE 'UTC', interval '1 week') u
), added AS (
    -- A week without changes gets a row of zeros; see active_subscriptions_by_day.
    SELECT app_id, week, product_id, storefront, sum(new) AS new, sum(resubscribed) AS resubscribed, sum(expired) AS expired,
           sum(switched_in) AS switched_in, sum(switched_out) AS switched_out
      FROM (SELECT * FROM moved UNION ALL SELECT app_id, week, product_id, storefront, 0, 0, 0, 0, 0 FROM calendar) every_week
     GROUP BY app_id, week, product_id, storefront
), summed AS (
    SELECT *, sum(new + resubscribed + switched_in - expired - switched_out) OVER so_far AS closing
      FROM added
    WINDOW so_far AS (PARTITION BY app_id, product_id, storefront ORDER BY week)
), opened AS (
    SELECT *, closing - (new + resubscribed + switched_in - expired - switched_out) AS opening FROM summed
)
SELECT
    app_id, week, product_id, storefront,
    opening::bigint AS opening, new::bigint AS new, resubscribed::bigint AS resubscribed, switched_in::bigint AS switched_in,
    expired::bigint AS expired, switched_out::bigint AS switched_out, closing::bigint AS closing,
    (expired - resubscribed)::bigint AS churned,
    round((expired - resubscribed) / nullif(opening, 0), 4) AS churn_rate
FROM opened
WHERE opening <> 0 OR closing <> 0 OR new <> 0 OR resubscribed <> 0 OR expired <> 0 OR switched_in <> 0 OR switched_out <> 0;
COMMENT ON VIEW subscription_movement_by_week IS
    'Paid subscriptions at the beginning and end of each week, and those that started, returned, expired, or changed product or storefront in it, by product and storefront. Family Sharing and periods without an expiresDate are not counted. The row of the current week is as of the last refresh.';
COMMENT ON COLUMN subscription_movement_by_week.week IS 'The Monday of the week, in UTC.';
COMMENT ON COLUMN subscription_movement_by_week.opening IS 'Active paid subscriptions at the end of the previous week.';
COMMENT ON COLUMN subscription_movement_by_week.new IS 'Subscriptions that were paid for the first time, including converted trials.';
COMMENT ON COLUMN subscription_movement_by_week.resubscribed IS 'Subscriptions that were paid again after they had expired, in this week or earlier.';
COMMENT ON COLUMN subscription_movement_by_week.switched_in IS 'Active subscriptions that changed to this product or storefront from another.';
COMMENT ON COLUMN subscription_movement_by_week.expired IS 'Subscriptions whose paid period ended, by expiry or refund, without a next period.';
COMMENT ON COLUMN subscription_movement_by_week.switched_out IS 'Active subscriptions that changed from this product or storefront to another.';
COMMENT ON COLUMN subscription_movement_by_week.closing IS 'Active paid subscriptions at the end of the week: opening + new + resubscribed + switched_in - expired - switched_out.';
COMMENT ON COLUMN subscription_movement_by_week.churned IS 'expired less resubscribed: RevenueCat''s churned subscriptions. Negative if more returned than expired.';
COMMENT ON COLUMN subscription_movement_by_week.churn_rate IS 'churned divided by opening: RevenueCat''s churn rate. NULL if nothing was active at the beginning. To combine rows, divide the sums.';
