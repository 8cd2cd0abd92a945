-- Which line items do Advanced Commerce purchases have?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_advanced_commerce_items WITH (security_barrier) AS
SELECT
    app_id, owner_kind, owner_key, position, sku, description, display_name, price_milliunits, currency,
    revocation_date, offer_period, offer_period_count, offer_price_milliunits, offer_reason,
    price_increase_price_milliunits, price_increase_status, price_increase_dependent_skus,
    price_milliunits * 0.001 AS price_amount, offer_price_milliunits * 0.001 AS offer_price_amount,
    price_increase_price_milliunits * 0.001 AS price_increase_price_amount
FROM advanced_commerce_items;
COMMENT ON VIEW masked_advanced_commerce_items IS 'Line items for analysts. They contain no personal data.';
