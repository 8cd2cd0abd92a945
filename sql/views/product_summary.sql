-- Which products were sold, since when, and to how many customers?
--
-- One row for each app_id, product_id.
-- Readers: loader, exporter, actor, analyst.

-- One row for each app_id, product_id, type.
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

CREATE OR REPLACE VIEW product_summary AS
SELECT
    app_id, product_id,
    min(type) AS type,
    min(first_sold_at) AS first_sold_at,
    max(last_sold_at) AS last_sold_at,
    sum(purchases)::bigint AS purchases,
    sum(free_purchases)::bigint AS free_purchases,
    sum(refunded)::bigint AS refunded,
    sum(customers)::bigint AS customers
FROM (
    SELECT app_id, product_id, type, NULL::timestamptz AS first_sold_at, NULL::timestamptz AS last_sold_at,
           purchases, free_purchases, refunded, customers
      FROM refresh_product_totals
    UNION ALL
    SELECT app_id, product_id, NULL, first_sold_at, last_sold_at, NULL, NULL, NULL, NULL FROM refresh_sale_totals
) counted
GROUP BY app_id, product_id;
COMMENT ON VIEW product_summary IS
    'One row per product ever bought. Apple''s server returns no names: join the table products, which you fill, for name, group and period.';
COMMENT ON COLUMN product_summary.first_sold_at IS 'The first purchase.';
COMMENT ON COLUMN product_summary.last_sold_at IS 'The last purchase or renewal.';
COMMENT ON COLUMN product_summary.purchases IS 'Purchases and renewals with a price.';
COMMENT ON COLUMN product_summary.free_purchases IS 'Transactions at the price 0, including trials.';
COMMENT ON COLUMN product_summary.refunded IS 'Purchases that were refunded, in whole or in part, including free ones.';
COMMENT ON COLUMN product_summary.customers IS 'Customers who ever bought the product. See customer_key in purchases for how customers are identified.';
