-- Which time ranges are permanently missing?
--
-- Readers: loader, exporter, analyst.
CREATE OR REPLACE VIEW masked_coverage_gaps WITH (security_barrier) AS
SELECT
    app_id, job, stream, item_key, gap_start, gap_end, reason, run_id, found_at
FROM coverage_gaps;
COMMENT ON VIEW masked_coverage_gaps IS 'Gaps for analysts: the rows of coverage_gaps.';
