COMMENT ON TABLE group_members IS
    'The members of each known group, from Get Group Members. A member that Apple''s newest answer no longer has leaves the table, and so does the sandbox''s placeholder member 700000000000000000.';
COMMENT ON COLUMN group_members.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN group_members.group_id IS 'Apple''s ID of the group.';
COMMENT ON COLUMN group_members.app_transaction_id IS 'The member''s appTransactionId.';
COMMENT ON COLUMN group_members.asked_at IS 'When Apple answered, by the database''s clock; the newest answer is kept.';
COMMENT ON COLUMN group_members.first_seen_at IS 'When StoreLedger first stored an answer for this key.';
COMMENT ON COLUMN group_members.last_changed_at IS 'When an answer last differed from the one before.';
COMMENT ON COLUMN group_members.last_run_id IS 'The run that last wrote the row.';
