COMMENT ON TABLE coverage_gaps IS 'Time ranges that a job requested and that Apple no longer serves.';
COMMENT ON COLUMN coverage_gaps.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN coverage_gaps.job IS 'The name in the job file.';
COMMENT ON COLUMN coverage_gaps.stream IS 'The stream that has the gap.';
COMMENT ON COLUMN coverage_gaps.item_key IS
    'The transaction ID or the time window; "app" for the notifications of the whole app; or "erased" and the first characters of a tombstone, as in crawl_items.';
COMMENT ON COLUMN coverage_gaps.gap_start IS 'The beginning of the missing time range.';
COMMENT ON COLUMN coverage_gaps.gap_end IS 'The end of the missing time range.';
COMMENT ON COLUMN coverage_gaps.reason IS 'The reason, in one sentence.';
COMMENT ON COLUMN coverage_gaps.run_id IS 'The run that found it.';
COMMENT ON COLUMN coverage_gaps.found_at IS 'When the run found the gap.';
