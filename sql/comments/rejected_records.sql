COMMENT ON TABLE rejected_records IS 'Records that could not be loaded: the text as received, and the reason.';
COMMENT ON COLUMN rejected_records.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN rejected_records.record_id IS 'StoreLedger''s number for the record.';
COMMENT ON COLUMN rejected_records.job IS 'The job that received the record.';
COMMENT ON COLUMN rejected_records.stream IS 'The stream that returned the record, such as transactionHistory.';
COMMENT ON COLUMN rejected_records.item_key IS 'The ID or time window of the request.';
COMMENT ON COLUMN rejected_records.reason IS 'The reason: one word of a fixed list, such as signature or bundle.';
COMMENT ON COLUMN rejected_records.detail IS 'What was found and what is expected, the last time the record was received.';
COMMENT ON COLUMN rejected_records.sha256 IS
    'SHA-256 of the whole text as received. For an answer that Apple does not sign: of its kind and key, because the records in it are signed again for each answer.';
COMMENT ON COLUMN rejected_records.raw IS 'The text as received, at most the first 256 KiB. Accepted records are never longer.';
COMMENT ON COLUMN rejected_records.first_seen_at IS 'When the record was first received.';
COMMENT ON COLUMN rejected_records.last_seen_at IS 'When the record was last received.';
COMMENT ON COLUMN rejected_records.seen_count IS 'How often it was received.';
COMMENT ON COLUMN rejected_records.run_id IS 'The run that last received the record.';
COMMENT ON COLUMN rejected_records.resolved_at IS
    'When a replay loaded the record, when a later run read its item from the first page to the last (Apple''s newer copy is loaded, or rejected in a separate row), or when its job was removed. NULL while it is rejected.';
COMMENT ON COLUMN rejected_records.identity IS
    'SHA-256 of the kind and key that the record claims, as in quarantined_records. NULL for an erased customer, and for a record that an earlier version stored and that was not received again.';
COMMENT ON COLUMN rejected_records.dismissed_at IS
    'When storeledger rejects dismissed the record. It is then not counted any more, even if a run receives it again. NULL otherwise.';
