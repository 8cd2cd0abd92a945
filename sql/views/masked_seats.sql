-- How many seats does a subscription have?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_seats WITH (security_barrier) AS
SELECT app_id, original_transaction_id, total_seat_count, available_seat_count, asked_at, first_seen_at, last_changed_at, last_run_id FROM seats;
COMMENT ON VIEW masked_seats IS 'Seats for analysts: all of seats.';
