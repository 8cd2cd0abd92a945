-- Which sale of a product, storefront, currency and price was the first, and which the last?
--
-- A refresh asks this when the first or last sale of a group is gone. The index is by a hash of the group, because its columns
-- can be NULL and are long.
CREATE INDEX CONCURRENTLY IF NOT EXISTS refresh_stored_transactions_sales ON refresh_stored_transactions (
    app_id, refresh_sale_group(product_id, type, storefront, currency, list_price_milliunits, is_renewal), purchase_date) WHERE is_purchase;
