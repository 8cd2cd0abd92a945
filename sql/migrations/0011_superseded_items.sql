-- An item of a run that another run has replaced before the item reached its end has not failed.
ALTER TABLE crawl_items DROP CONSTRAINT crawl_items_state_check;
ALTER TABLE crawl_items ADD CONSTRAINT crawl_items_state_check
    CHECK (state = ANY (ARRAY['waiting', 'leased', 'done', 'failed', 'superseded']));
UPDATE runs r SET items_failed = greatest(0, r.items_failed - s.items)
  FROM (SELECT app_id, run_id, count(*) AS items FROM crawl_items
         WHERE state = 'failed' AND error_message = 'the run was superseded before the item reached its end'
         GROUP BY app_id, run_id) s
 WHERE r.app_id = s.app_id AND r.run_id = s.run_id AND r.exit_code = 75;
UPDATE crawl_items SET state = 'superseded', error_code = NULL, error_message = NULL
 WHERE state = 'failed' AND error_message = 'the run was superseded before the item reached its end';
