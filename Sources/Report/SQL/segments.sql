-- Products, storefronts and currencies by the number of their purchases, the largest first.
SELECT segment, name, sum(purchases) AS purchases
  FROM (SELECT app_id, product_id, storefront, currency, purchases FROM revenue_by_month
        UNION ALL
        SELECT app_id, product_id, storefront, currency, 0 FROM subscriptions_by_status) sold
 CROSS JOIN LATERAL (VALUES ('product_id', product_id), ('storefront', storefront), ('currency', currency)) part (segment, name)
 WHERE app_id = ANY (:apps::text[]::integer[]) AND name IS NOT NULL
 GROUP BY segment, name
 ORDER BY purchases DESC, name
