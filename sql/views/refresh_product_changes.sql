-- What do the customers with a changed transaction add to refresh_product_totals?
CREATE OR REPLACE VIEW refresh_product_changes AS
SELECT
    app_id, product_id, type, sum(purchases) AS purchases, sum(free) AS free_purchases, sum(refunded) AS refunded,
    sum(customers) AS customers
FROM (
    SELECT app_id, product_id, type, sum(sign) FILTER (WHERE is_paid) AS purchases, sum(sign) FILTER (WHERE NOT is_paid) AS free,
           sum(sign) FILTER (WHERE is_refunded) AS refunded, 0 AS customers
      FROM refresh_changed_transactions WHERE is_purchase
     GROUP BY app_id, product_id, type
    UNION ALL
    SELECT app_id, product_id, NULL, 0, 0, 0, sum(sign)
      FROM (SELECT DISTINCT sign, app_id, product_id, customer_key FROM refresh_changed_customer_purchases) customer
     GROUP BY app_id, product_id
) counted
GROUP BY app_id, product_id, type;
