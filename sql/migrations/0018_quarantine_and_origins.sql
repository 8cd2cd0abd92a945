-- Which rejected records are known already, and which server and root do an app's records come from?

CREATE TABLE quarantined_records (
    app_id    integer NOT NULL REFERENCES apps,
    reason    text    NOT NULL,
    identity  bytea   NOT NULL,
    record_id bigint  NOT NULL,
    PRIMARY KEY (app_id, reason, identity),
    FOREIGN KEY (app_id, record_id) REFERENCES rejected_records ON DELETE CASCADE
);
-- For the rows that go with a rejected record.
CREATE INDEX quarantined_records_by_record ON quarantined_records (app_id, record_id);

COMMENT ON TABLE quarantined_records IS 'Rejected records by what they claim to be: one that is here does not count when a run decides whether too many fail.';
COMMENT ON COLUMN quarantined_records.app_id IS 'The app; see apps.';
COMMENT ON COLUMN quarantined_records.reason IS 'As in rejected_records.';
COMMENT ON COLUMN quarantined_records.identity IS 'SHA-256 of the kind and the key that the record claims, which stay the same when Apple signs the record again; of the whole text where it says neither.';
COMMENT ON COLUMN quarantined_records.record_id IS 'The row of rejected_records that was filed when the record was met first; with it this row goes.';

ALTER TABLE runs
    ADD COLUMN server text,
    ADD COLUMN trusted_roots text[],
    ADD COLUMN stopped_for_rejects_at timestamptz;
COMMENT ON COLUMN runs.server IS 'The server that was asked (appStore.baseURL) when the run began; NULL for runs of before this was noted.';
COMMENT ON COLUMN runs.trusted_roots IS 'SHA-256 of each root certificate that was trusted when the run began; NULL for runs of before this was noted.';
COMMENT ON COLUMN runs.stopped_for_rejects_at IS 'When a process last stopped because 1 in 20 of the records it met for the first time failed verification; the run is not stopped for that again.';

ALTER TABLE apps
    ADD COLUMN server text,
    ADD COLUMN trusted_roots text[];
COMMENT ON COLUMN apps.server IS 'The server that the newest run asked; NULL until a run has begun since this is noted.';
COMMENT ON COLUMN apps.trusted_roots IS 'SHA-256 of each root certificate under which the app''s records are signed; jobs that trust another root are refused. NULL until a run has begun since this is noted; records of before are of unknown origin.';
