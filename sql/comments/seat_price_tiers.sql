COMMENT ON TABLE seat_price_tiers IS
    'The prices of seats, from multiSeatInfo of transactions (priceTiers) and renewal infos (renewalPriceTiers). Transactions that were loaded by a version before this table have rows after a replay.';
COMMENT ON COLUMN seat_price_tiers.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN seat_price_tiers.owner_kind IS 'The kind of record that contains the tier: transaction or renewal.';
COMMENT ON COLUMN seat_price_tiers.owner_key IS
    'The transaction_id of the transaction, or the original_transaction_id of the renewal.';
COMMENT ON COLUMN seat_price_tiers.position IS 'Index of the tier in Apple''s list, from 0; the order has no meaning.';
COMMENT ON COLUMN seat_price_tiers.price_milliunits IS 'Apple''s price of one seat of the tier, in thousandths of a unit of currency.';
COMMENT ON COLUMN seat_price_tiers.quantity IS 'Apple''s quantity: the seats at this price; for a renewal, those of the next period.';
COMMENT ON COLUMN seat_price_tiers.currency IS 'Currency of the price: Apple''s ISO 4217 code in the record that contains the tier.';
