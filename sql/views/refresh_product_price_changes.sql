-- What do the transactions that changed add to refresh_product_price_totals?
CREATE OR REPLACE VIEW refresh_product_price_changes AS
SELECT
    app_id, product_id, storefront, currency, list_price_milliunits AS price_milliunits,
    sum(sign) FILTER (WHERE NOT is_renewal) AS purchases,
    sum(sign) FILTER (WHERE is_renewal) AS renewals,
    min(purchase_date) FILTER (WHERE sign = 1) AS first_sold_at,
    max(purchase_date) FILTER (WHERE sign = 1) AS last_sold_at,
    min(purchase_date) FILTER (WHERE sign = 1 AND NOT is_renewal) AS first_new_sale_at,
    max(purchase_date) FILTER (WHERE sign = 1 AND NOT is_renewal) AS last_new_sale_at
FROM refresh_changed_transactions
WHERE list_price_milliunits IS NOT NULL
GROUP BY app_id, product_id, storefront, currency, list_price_milliunits;
