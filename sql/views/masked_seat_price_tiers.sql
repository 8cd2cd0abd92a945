-- What do seats cost?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_seat_price_tiers WITH (security_barrier) AS
SELECT app_id, owner_kind, owner_key, position, price_milliunits, quantity, currency, price_milliunits * 0.001 AS price_amount FROM seat_price_tiers;
COMMENT ON VIEW masked_seat_price_tiers IS 'Prices of seats for analysts. They contain no personal data.';
