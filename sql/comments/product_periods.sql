COMMENT ON TABLE product_periods IS
    'The usual period of each subscription product, as of the last refresh of the views. refresh_views() fills it and subscription_periods reads it.';
COMMENT ON COLUMN product_periods.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN product_periods.product_id IS 'Apple''s productId.';
COMMENT ON COLUMN product_periods.period IS
    'The ISO 8601 period that matches the length of most of the product''s periods; the shorter of two that are equally frequent. Offers, monthly billing and extended periods do not count.';
