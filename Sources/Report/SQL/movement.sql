-- title: Movement of paid subscriptions
-- section: subscriptions
-- means: Subscriptions that were paid for the first time, came back, or expired; every expiry counts, also of one that comes back later.
-- note: All currencies.
-- docs: metrics.md#definitions-ours-and-others
-- nothing: No paid subscription began or ended in this range.
-- views: subscription_movement_by_day
-- column: day | day | Day
-- column: product_id | text | Product
-- column: storefront | text | Storefront
-- column: new | count | New
-- column: resubscribed | count | Came back
-- column: expired | count | Expired
-- column: churned | count | Expired less came back | expired - resubscribed
-- draw: bars new/0 resubscribed/2 expired/1/below
SELECT app_id, day, product_id, storefront, new, resubscribed, expired
  FROM subscription_movement_by_day WHERE app_id = ANY (:apps::text[]::integer[])
