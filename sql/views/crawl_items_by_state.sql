-- How far is each job, and which of its items fail?
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW crawl_items_by_state AS
SELECT
    i.app_id, i.job, i.run_id, i.stream, i.state, i.error_code,
    count(*) AS items,
    min(i.finished_at) AS first_finished_at,
    max(i.finished_at) AS last_finished_at
FROM (SELECT app_id, job, max(run_id) AS run_id FROM runs GROUP BY app_id, job) last
JOIN crawl_items i ON i.app_id = last.app_id AND i.job = last.job AND i.run_id = last.run_id
GROUP BY i.app_id, i.job, i.run_id, i.stream, i.state, i.error_code;
COMMENT ON VIEW crawl_items_by_state IS
    'The number of items of each job''s last run, by state. The view contains no customer IDs and no messages, because messages can contain customer IDs.';
COMMENT ON COLUMN crawl_items_by_state.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN crawl_items_by_state.job IS 'The name in the job file.';
COMMENT ON COLUMN crawl_items_by_state.run_id IS 'The job''s last run.';
COMMENT ON COLUMN crawl_items_by_state.stream IS 'The stream that is requested.';
COMMENT ON COLUMN crawl_items_by_state.state IS 'waiting, leased (a process is working on the item), done or failed.';
COMMENT ON COLUMN crawl_items_by_state.error_code IS 'Apple''s errorCode of the last failure, or the HTTP status if Apple sent no errorCode.';
COMMENT ON COLUMN crawl_items_by_state.items IS 'The number of items: transaction IDs or time windows.';
COMMENT ON COLUMN crawl_items_by_state.first_finished_at IS 'When the first of these items was done or failed. NULL while there is none.';
COMMENT ON COLUMN crawl_items_by_state.last_finished_at IS 'When the last of these items was done or failed. NULL while there is none.';
