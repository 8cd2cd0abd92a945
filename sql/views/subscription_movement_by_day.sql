-- How many paid subscriptions started, returned and expired on each day?
--
-- The definition is RevenueCat's: churned subscriptions are all that expired in the period, less those that resubscribed in
-- it. Every expiry and every return counts on its own day, so days add up to weeks and months. renewals_and_churn_by_month
-- instead compares the two ends of a month and misses a weekly subscription that started and expired between them. A
-- subscription that continues without a gap (is_continued in subscription_periods) neither expires nor returns.
-- active on a day = active on the previous day + new + resubscribed + switched_in - expired - switched_out, always.
--
-- One row for each app_id, day, product_id, storefront.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW refresh_movement_changes AS
SELECT
    p.app_id, (e.at AT TIME ZONE 'UTC')::date AS day, e.product_id, e.storefront,
    sum(p.sign * e.new) AS new, sum(p.sign * e.resubscribed) AS resubscribed, sum(p.sign * e.expired) AS expired,
    sum(p.sign * e.switched_in) AS switched_in, sum(p.sign * e.switched_out) AS switched_out
FROM (SELECT *, is_continued AND (next_product_id IS DISTINCT FROM product_id OR next_storefront IS DISTINCT FROM storefront)
                AS is_switched
        FROM refresh_changed_periods) p
CROSS JOIN LATERAL (
    SELECT p.product_id, p.storefront, p.starts_at AS at, (p.payment_number = 1)::integer AS new, (p.payment_number > 1)::integer AS resubscribed,
           0 AS expired, 0 AS switched_in, 0 AS switched_out
    UNION ALL
    -- The next period counts as a return above; a subscription that continues has not returned.
    SELECT p.next_product_id, p.next_storefront, p.ends_at, 0, -1, 0, p.is_switched::integer, 0
     WHERE p.is_continued
    UNION ALL
    SELECT p.product_id, p.storefront, p.ends_at, 0, 0, (NOT p.is_continued)::integer, 0, p.is_switched::integer
) e
WHERE p.is_paid AND p.ends_at IS NOT NULL AND e.at <= p.as_of
GROUP BY p.app_id, (e.at AT TIME ZONE 'UTC')::date, e.product_id, e.storefront;

CREATE OR REPLACE VIEW subscription_movement_by_day AS
SELECT
    app_id, day, product_id, storefront, new, resubscribed, expired,
    expired - resubscribed AS churned,
    switched_in, switched_out
FROM refresh_movement_totals;
COMMENT ON VIEW subscription_movement_by_day IS
    'Paid subscriptions that started, returned, expired, or changed product or storefront, by day, product and storefront. Days without a change have no row. subscription_movement_by_week and subscription_movement_by_month add the days up. Family Sharing and periods without an expiresDate are not counted. Today''s row is as of the last refresh.';
COMMENT ON COLUMN subscription_movement_by_day.day IS 'The day, in UTC. A period that ends at midnight ends on the day that begins then.';
COMMENT ON COLUMN subscription_movement_by_day.new IS 'Subscriptions that were paid for the first time, including converted trials.';
COMMENT ON COLUMN subscription_movement_by_day.resubscribed IS 'Expired subscriptions that were paid again: bought again, or recovered by Apple after a gap.';
COMMENT ON COLUMN subscription_movement_by_day.expired IS 'Subscriptions whose paid period ended, by expiry or refund, without a next period.';
COMMENT ON COLUMN subscription_movement_by_day.churned IS 'expired less resubscribed: RevenueCat''s churned subscriptions. It can be negative. For RevenueCat''s churn rate, divide the sum for a time range by the active subscriptions at its beginning.';
COMMENT ON COLUMN subscription_movement_by_day.switched_in IS 'Active subscriptions that changed to this product or storefront from another.';
COMMENT ON COLUMN subscription_movement_by_day.switched_out IS 'Active subscriptions that changed from this product or storefront to another.';
