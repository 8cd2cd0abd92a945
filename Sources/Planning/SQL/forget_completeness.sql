-- Clears complete_until where it was set while PostgreSQL's clock was ahead, so that the items are requested again.
--
-- Without a run from the future the items are not searched.
UPDATE crawl_items SET state = 'failed', claimable_at = NULL, lease_owner = NULL, complete_until = NULL,
       error_message = 'it was read while PostgreSQL''s clock was ahead'
 WHERE app_id = :app AND job = :job AND complete_until > :latest_moment
   AND EXISTS (:future_runs)
