-- title: What remains to be migrated
-- section: campaigns
-- means: Active subscriptions without Advanced Commerce, as the last crawl knows them, and why the last plan of a migration has not migrated them.
-- docs: ../guides/advanced-commerce.md
-- nothing: Nothing remains, or no migration was planned.
-- views: unmigrated_subscriptions_by_reason
-- flags: plain wide optional
-- column: product_id | text | Product
-- column: reason | text | Reason
-- column: cause | text | Rule or Apple's code
-- column: subscriptions | count | Subscriptions
-- column: will_renew | count of subscriptions | Will renew
-- column: last_planned | moment | Last planned, UTC
SELECT product_id, reason, coalesce(rule, apple_code::text, '') AS cause, subscriptions, will_renew,
       to_char(last_planned_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last_planned
  FROM unmigrated_subscriptions_by_reason v WHERE app_id = :app
 ORDER BY v.subscriptions DESC, v.product_id, v.reason, cause LIMIT 50
