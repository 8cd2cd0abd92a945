COMMENT ON TABLE seat_claims IS
    'The claims that have a seat, from assignedSeatClaimIds of Get Seat Info. After a smaller renewal a subscription can have more claims than seats. A claim that Apple''s newest answer no longer has leaves the table.';
COMMENT ON COLUMN seat_claims.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN seat_claims.seat_claim_id IS 'Apple''s seatClaimId: a UUID, new for each claim.';
COMMENT ON COLUMN seat_claims.original_transaction_id IS 'The subscription, in seats.';
