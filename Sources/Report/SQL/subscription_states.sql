-- Subscriptions by product and state.
SELECT product_id, coalesce(sum(subscriptions) FILTER (WHERE status = 'active'), 0) AS active,
       coalesce(sum(subscriptions) FILTER (WHERE status = 'grace period'), 0) AS grace,
       coalesce(sum(subscriptions) FILTER (WHERE status = 'billing retry'), 0) AS retry,
       coalesce(sum(subscriptions) FILTER (WHERE status = 'expired'), 0) AS expired,
       coalesce(sum(subscriptions) FILTER (WHERE status = 'revoked'), 0) AS revoked,
       coalesce(sum(subscriptions) FILTER (
           WHERE status NOT IN ('active', 'grace period', 'billing retry', 'expired', 'revoked')), 0) AS unknown,
       sum(reported_by_apple) AS reported, sum(subscriptions) AS total
  FROM subscriptions_by_status WHERE app_id = :app
 GROUP BY product_id ORDER BY active DESC, sum(subscriptions) DESC, product_id
