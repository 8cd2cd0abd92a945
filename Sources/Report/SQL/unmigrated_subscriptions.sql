-- Subscriptions that were not migrated, by product and reason.
SELECT product_id, reason, coalesce(rule, apple_code::text, '') AS cause, subscriptions, will_renew,
       to_char(last_planned_at, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS last_planned
  FROM unmigrated_subscriptions_by_reason v WHERE app_id = :app
 ORDER BY v.subscriptions DESC, v.product_id, v.reason, cause LIMIT 50
