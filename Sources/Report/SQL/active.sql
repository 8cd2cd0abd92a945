-- title: Active subscriptions
-- section: subscriptions
-- means: Paid subscriptions and free trials that are active at the end of the day; Family Sharing is not counted.
-- note: All storefronts and currencies.
-- defines: A subscription is active in a paid period: not a trial, not shared by the family, not at the price 0. A grace period counts.
-- docs: metrics.md#rules-that-the-views-about-subscriptions-share
-- nothing: No subscriptions in this range.
-- views: active_subscriptions_by_day
-- column: day | day | Day
-- column: product_id | text | Product
-- column: active | count at end | Paid
-- column: trials | count at end | Trials
-- draw: lines active/0 trials/1
SELECT app_id, day, product_id, active, trials
  FROM active_subscriptions_by_day
 WHERE app_id = ANY (:apps::text[]::integer[]) AND (day >= :days_from::text::date OR day = (date_trunc('month', day) + interval '1 month')::date - 1)
