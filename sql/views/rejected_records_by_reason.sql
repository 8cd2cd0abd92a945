-- What could not be loaded, why, and since when?
CREATE OR REPLACE VIEW rejected_records_by_reason AS
SELECT
    app_id, job, stream, reason,
    count(*) AS records,
    min(first_seen_at) AS first_seen_at,
    max(last_seen_at) AS last_seen_at
FROM rejected_records
WHERE resolved_at IS NULL
GROUP BY app_id, job, stream, reason;
COMMENT ON VIEW rejected_records_by_reason IS
    'Records that could not be loaded and have not come right since: how many, never their text. storeledger replay --rejected tries them again.';
COMMENT ON COLUMN rejected_records_by_reason.app_id IS 'The app, in apps.';
COMMENT ON COLUMN rejected_records_by_reason.job IS 'The name in the job file.';
COMMENT ON COLUMN rejected_records_by_reason.stream IS 'The history they came with.';
COMMENT ON COLUMN rejected_records_by_reason.reason IS 'The kind of defect, one word.';
COMMENT ON COLUMN rejected_records_by_reason.records IS 'How many different records.';
COMMENT ON COLUMN rejected_records_by_reason.first_seen_at IS 'When the first of them came first.';
COMMENT ON COLUMN rejected_records_by_reason.last_seen_at IS 'When one of them came last.';
