-- How many paid subscriptions came, came back and expired on each day?
--
-- RevenueCat: churned are all subscriptions that expired in the period, less those that resubscribed in it. Every expiry counts
-- here on its day, and every return on its own, so that days can be added up to weeks and months; renewals_and_churn_by_month
-- compares two ends of a month instead, and does not see a weekly subscription that came and went between them. A subscription
-- that goes on without a gap (is_continued in subscription_periods) neither expires nor returns.
-- active on a day = active on the day before + new + resubscribed + switched_in - expired - switched_out, always.
CREATE MATERIALIZED VIEW IF NOT EXISTS subscription_movement_by_day AS
SELECT
    app_id, (at AT TIME ZONE 'UTC')::date AS day, product_id, storefront,
    sum(new)::bigint AS new, sum(resubscribed)::bigint AS resubscribed, sum(expired)::bigint AS expired,
    (sum(expired) - sum(resubscribed))::bigint AS churned,
    sum(switched_in)::bigint AS switched_in, sum(switched_out)::bigint AS switched_out
FROM (
    SELECT p.app_id, e.product_id, e.storefront, e.at, e.new, e.resubscribed, e.expired, e.switched_in, e.switched_out
      FROM (SELECT *, is_continued AND (next_product_id IS DISTINCT FROM product_id OR next_storefront IS DISTINCT FROM storefront)
                      AS is_switched
              FROM subscription_periods_at_refresh) p
      CROSS JOIN LATERAL (
          SELECT p.product_id, p.storefront, p.starts_at AS at, (p.payment_number = 1)::integer AS new, (p.payment_number > 1)::integer AS resubscribed,
                 0 AS expired, 0 AS switched_in, 0 AS switched_out
          UNION ALL
          -- The next stretch counts as a return above; a subscription that goes on has not returned.
          SELECT p.next_product_id, p.next_storefront, p.ends_at, 0, -1, 0, p.is_switched::integer, 0
           WHERE p.is_continued
          UNION ALL
          SELECT p.product_id, p.storefront, p.ends_at, 0, 0, (NOT p.is_continued)::integer, 0, p.is_switched::integer
      ) e
     WHERE p.is_paid AND p.ends_at IS NOT NULL AND e.at <= now()
) event
GROUP BY app_id, (at AT TIME ZONE 'UTC')::date, product_id, storefront
HAVING sum(new) <> 0 OR sum(resubscribed) <> 0 OR sum(expired) <> 0 OR sum(switched_in) <> 0 OR sum(switched_out) <> 0
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS subscription_movement_by_day_key
    ON subscription_movement_by_day (app_id, day, product_id, storefront) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW subscription_movement_by_day IS
    'Paid subscriptions that came, came back, expired or changed product or storefront, by day, product and storefront; days without any have no row. subscription_movement_by_week and subscription_movement_by_month add days up. Family Sharing and periods without an expiresDate are not counted. Today is as of the last refresh.';
COMMENT ON COLUMN subscription_movement_by_day.day IS 'The day, in UTC; what ends at midnight ends on the day that begins then.';
COMMENT ON COLUMN subscription_movement_by_day.new IS 'Subscriptions that were paid for the first time, trials that converted among them.';
COMMENT ON COLUMN subscription_movement_by_day.resubscribed IS 'Subscriptions that were paid for again after they had expired: bought again, or recovered after a gap.';
COMMENT ON COLUMN subscription_movement_by_day.expired IS 'Subscriptions whose paid period ended, by expiry or refund, without a next one.';
COMMENT ON COLUMN subscription_movement_by_day.churned IS 'expired less resubscribed: RevenueCat''s churned subscriptions, which can be negative for a day. Divide the sum of a period by the actives at its beginning for RevenueCat''s churn rate.';
COMMENT ON COLUMN subscription_movement_by_day.switched_in IS 'Active subscriptions that changed to the product from another one, or to the storefront.';
COMMENT ON COLUMN subscription_movement_by_day.switched_out IS 'Active subscriptions that changed from the product to another one, or left the storefront.';
