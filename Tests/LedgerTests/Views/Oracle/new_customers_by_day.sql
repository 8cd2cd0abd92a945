-- What does new_customers_by_day show when it is computed from every record?
SELECT app_id, (purchase_date AT TIME ZONE 'UTC')::date AS day, product_id, storefront,
       count(*) AS customers, count(*) FILTER (WHERE is_paid) AS paying_customers
FROM purchases p
WHERE purchase_date IS NOT NULL
  AND NOT EXISTS (SELECT FROM purchases earlier
                   WHERE earlier.app_id = p.app_id AND earlier.customer_key = p.customer_key
                     AND (earlier.purchase_date, earlier.transaction_id) < (p.purchase_date, p.transaction_id))
GROUP BY app_id, (purchase_date AT TIME ZONE 'UTC')::date, product_id, storefront
