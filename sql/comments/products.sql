COMMENT ON TABLE products IS 'The user''s own information about products. Optional: the user fills the table.';
COMMENT ON COLUMN products.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN products.product_id IS 'Apple''s productId.';
COMMENT ON COLUMN products.display_name IS 'The user''s name for the product.';
COMMENT ON COLUMN products.product_group IS 'The user''s own group, for totals.';
COMMENT ON COLUMN products.period IS
    'The subscription''s period as an ISO 8601 duration of one unit, such as P1W, P1M or P1Y. It takes precedence over the period that StoreLedger derives from dates.';
