COMMENT ON TABLE seats IS 'The seats of each listed subscription whose invitationManagement is DEVELOPER, from Get Seat Info.';
COMMENT ON COLUMN seats.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN seats.original_transaction_id IS 'The subscription: the ID of its first transaction.';
COMMENT ON COLUMN seats.total_seat_count IS 'Apple''s totalSeatCount.';
COMMENT ON COLUMN seats.available_seat_count IS 'Apple''s availableSeatCount: the seats that no claim has.';
COMMENT ON COLUMN seats.asked_at IS 'When Apple answered, by the database''s clock; the newest answer is kept.';
COMMENT ON COLUMN seats.first_seen_at IS 'When StoreLedger first stored an answer for this key.';
COMMENT ON COLUMN seats.last_changed_at IS 'When an answer last differed from the one before.';
COMMENT ON COLUMN seats.last_run_id IS 'The run that last wrote the row.';
