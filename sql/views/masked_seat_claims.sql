-- Which claims have a seat?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_seat_claims WITH (security_barrier) AS
SELECT app_id, seat_claim_id, original_transaction_id FROM seat_claims;
COMMENT ON VIEW masked_seat_claims IS 'Seat claims for analysts: all of seat_claims.';
