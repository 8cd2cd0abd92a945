-- Which records could not be loaded, why, and since when?
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW rejected_records_by_reason AS
SELECT
    app_id, job, stream, reason,
    count(*) AS records,
    min(first_seen_at) AS first_seen_at,
    max(last_seen_at) AS last_seen_at
FROM rejected_records
WHERE resolved_at IS NULL AND dismissed_at IS NULL
GROUP BY app_id, job, stream, reason;
COMMENT ON VIEW rejected_records_by_reason IS
    'The number of records that could not be loaded and are still rejected, without dismissed ones. The view does not contain their text. storeledger replay --rejected tries to load them again.';
COMMENT ON COLUMN rejected_records_by_reason.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN rejected_records_by_reason.job IS 'The name in the job file.';
COMMENT ON COLUMN rejected_records_by_reason.stream IS 'The stream that returned the records.';
COMMENT ON COLUMN rejected_records_by_reason.reason IS 'The reason for the rejection, one word.';
COMMENT ON COLUMN rejected_records_by_reason.records IS 'The number of different records.';
COMMENT ON COLUMN rejected_records_by_reason.first_seen_at IS 'When the first of these records was first received.';
COMMENT ON COLUMN rejected_records_by_reason.last_seen_at IS 'When one of these records was last received.';
