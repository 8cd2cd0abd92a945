-- What do the transactions that changed add to refresh_sale_totals?
--
-- list_price_milliunits is NULL for sales with an offer. Removing a sale does not narrow the range from first_sold_at to
-- last_sold_at here; renew_first_and_last() does.
CREATE OR REPLACE VIEW refresh_sale_changes AS
SELECT
    app_id, product_id, type, storefront, currency, list_price_milliunits, is_renewal,
    sum(sign) AS sales,
    min(purchase_date) FILTER (WHERE sign = 1) AS first_sold_at,
    max(purchase_date) FILTER (WHERE sign = 1) AS last_sold_at
FROM refresh_changed_transactions
WHERE is_purchase
GROUP BY app_id, product_id, type, storefront, currency, list_price_milliunits, is_renewal;
