-- How did the number of paid subscriptions change in each month, by product and storefront?
--
-- The days of subscription_movement_by_day are added up: closing = opening + new + resubscribed + switched_in - expired -
-- switched_out, always. The opening of a month is the closing of the previous month. A product in a storefront has a row
-- for every month in which it has active subscriptions, so rows can be added up over products and storefronts.
--
-- One row for each app_id, month, product_id, storefront.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW subscription_movement_by_month AS
WITH moved AS (
    SELECT app_id, date_trunc('month', day::timestamp)::date AS month, product_id, storefront, sum(new) AS new, sum(resubscribed) AS resubscribed,
           sum(expired) AS expired, sum(switched_in) AS switched_in, sum(switched_out) AS switched_out
      FROM subscription_movement_by_day
     GROUP BY app_id, date_trunc('month', day::timestamp)::date, product_id, storefront
), calendar AS (
    SELECT s.app_id, u::date AS month, s.product_id, s.storefront
      FROM (SELECT app_id, product_id, storefront, min(month) AS first_month FROM moved GROUP BY app_id, product_id, storefront) s
      CROSS JOIN refresh_state state
      CROSS JOIN LATERAL generate_series(s.first_month::timestamp, state.as_of AT TIME ZONE 'UTC', interval '1 month') u
), added AS (
    -- A month without changes gets a row of zeros; see active_subscriptions_by_day.
    SELECT app_id, month, product_id, storefront, sum(new) AS new, sum(resubscribed) AS resubscribed, sum(expired) AS expired,
           sum(switched_in) AS switched_in, sum(switched_out) AS switched_out
      FROM (SELECT * FROM moved UNION ALL SELECT app_id, month, product_id, storefront, 0, 0, 0, 0, 0 FROM calendar) every_month
     GROUP BY app_id, month, product_id, storefront
), summed AS (
    SELECT *, sum(new + resubscribed + switched_in - expired - switched_out) OVER so_far AS closing
      FROM added
    WINDOW so_far AS (PARTITION BY app_id, product_id, storefront ORDER BY month)
), opened AS (
    SELECT *, closing - (new + resubscribed + switched_in - expired - switched_out) AS opening FROM summed
)
SELECT
    app_id, month, product_id, storefront,
    opening::bigint AS opening, new::bigint AS new, resubscribed::bigint AS resubscribed, switched_in::bigint AS switched_in,
    expired::bigint AS expired, switched_out::bigint AS switched_out, closing::bigint AS closing,
    (expired - resubscribed)::bigint AS churned,
    round((expired - resubscribed) / nullif(opening, 0), 4) AS churn_rate
FROM opened
WHERE opening <> 0 OR closing <> 0 OR new <> 0 OR resubscribed <> 0 OR expired <> 0 OR switched_in <> 0 OR switched_out <> 0;
COMMENT ON VIEW subscription_movement_by_month IS
    'Paid subscriptions at the beginning and end of each month, and those that started, returned, expired, or changed product or storefront in it, by product and storefront. Family Sharing and periods without an expiresDate are not counted. The row of the current month is as of the last refresh.';
COMMENT ON COLUMN subscription_movement_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN subscription_movement_by_month.opening IS 'Active paid subscriptions at the end of the previous month.';
COMMENT ON COLUMN subscription_movement_by_month.new IS 'Subscriptions that were paid for the first time, including converted trials.';
COMMENT ON COLUMN subscription_movement_by_month.resubscribed IS 'Subscriptions that were paid again after they had expired, in this month or earlier.';
COMMENT ON COLUMN subscription_movement_by_month.switched_in IS 'Active subscriptions that changed to this product or storefront from another.';
COMMENT ON COLUMN subscription_movement_by_month.expired IS 'Subscriptions whose paid period ended, by expiry or refund, without a next period.';
COMMENT ON COLUMN subscription_movement_by_month.switched_out IS 'Active subscriptions that changed from this product or storefront to another.';
COMMENT ON COLUMN subscription_movement_by_month.closing IS 'Active paid subscriptions at the end of the month: opening + new + resubscribed + switched_in - expired - switched_out.';
COMMENT ON COLUMN subscription_movement_by_month.churned IS 'expired less resubscribed: RevenueCat''s churned subscriptions. Negative if more returned than expired.';
COMMENT ON COLUMN subscription_movement_by_month.churn_rate IS 'churned divided by opening: RevenueCat''s churn rate. Negative if more returned than expired. NULL if nothing was active at the beginning. To combine rows, divide the sums.';
