COMMENT ON TABLE quarantined_records IS
    'Rejected records by the identity that they claim. A record in this table does not count when a run decides whether too many records fail.';
COMMENT ON COLUMN quarantined_records.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN quarantined_records.reason IS 'The reason, as in rejected_records.';
COMMENT ON COLUMN quarantined_records.identity IS
    'SHA-256 of the kind and the key that the record claims. They stay the same when Apple signs the record again. If the record has neither, SHA-256 of the whole text.';
COMMENT ON COLUMN quarantined_records.record_id IS
    'The row of rejected_records that was written when the record was first received. This row is deleted together with that row.';
COMMENT ON COLUMN quarantined_records.dismissed_at IS
    'When storeledger rejects dismissed a record with this identity; every later one is then dismissed as well. NULL otherwise.';
