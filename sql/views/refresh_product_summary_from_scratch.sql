-- What does product_summary show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of product_summary.
CREATE OR REPLACE VIEW refresh_product_summary_from_scratch AS
SELECT
    p.app_id, p.product_id,
    min(p.type) AS type,
    min(p.purchase_date) AS first_sold_at,
    max(p.purchase_date) AS last_sold_at,
    count(*) FILTER (WHERE p.is_paid) AS purchases,
    count(*) FILTER (WHERE NOT p.is_paid) AS free_purchases,
    count(*) FILTER (WHERE p.is_refunded) AS refunded,
    count(DISTINCT p.customer_key) AS customers
FROM purchases_at_refresh p
GROUP BY p.app_id, p.product_id;
