COMMENT ON TABLE advanced_commerce_items IS
    'Line items of Advanced Commerce purchases, from advancedCommerceInfo of transactions and renewal info.';
COMMENT ON COLUMN advanced_commerce_items.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN advanced_commerce_items.owner_kind IS 'The kind of record that contains the item: transaction or renewal.';
COMMENT ON COLUMN advanced_commerce_items.owner_key IS
    'The transaction_id of the transaction, or the original_transaction_id of the renewal.';
COMMENT ON COLUMN advanced_commerce_items.position IS 'Index of the item in Apple''s list, from 0.';
COMMENT ON COLUMN advanced_commerce_items.sku IS 'Apple''s SKU of the item.';
COMMENT ON COLUMN advanced_commerce_items.description IS 'Apple''s description of the item, which the customer does not see.';
COMMENT ON COLUMN advanced_commerce_items.display_name IS 'Apple''s displayName of the item, which the customer sees.';
COMMENT ON COLUMN advanced_commerce_items.price_milliunits IS 'Apple''s price of the item in thousandths of a unit of currency.';
COMMENT ON COLUMN advanced_commerce_items.currency IS
    'Currency of every amount in the row: Apple''s ISO 4217 code in the transaction or renewal info that contains the item.';
COMMENT ON COLUMN advanced_commerce_items.revocation_date IS 'Apple''s revocationDate of the item.';
COMMENT ON COLUMN advanced_commerce_items.offer_period IS 'Apple''s period of the item''s offer: an ISO 8601 duration.';
COMMENT ON COLUMN advanced_commerce_items.offer_period_count IS 'Apple''s periodCount: the number of periods that the offer lasts.';
COMMENT ON COLUMN advanced_commerce_items.offer_price_milliunits IS 'Apple''s price of the offer in thousandths of a unit of currency.';
COMMENT ON COLUMN advanced_commerce_items.offer_reason IS 'Apple''s reason for the offer: ACQUISITION, WIN_BACK or RETENTION.';
COMMENT ON COLUMN advanced_commerce_items.price_increase_price_milliunits IS
    'Apple''s price after the increase in thousandths of a unit of currency.';
COMMENT ON COLUMN advanced_commerce_items.price_increase_status IS 'Apple''s status of the price increase: SCHEDULED, PENDING or ACCEPTED.';
COMMENT ON COLUMN advanced_commerce_items.price_increase_dependent_skus IS
    'Apple''s dependentSKUs: items whose price increase depends on this one.';
