-- Moves the finished items of superseded runs to the run that replaces them.
--
-- If a job is started from two places with different lists, each run replaces the other place's run. If the finished items did not
-- move, every such run would request its first customers again.
UPDATE crawl_items i SET run_id = :run::bigint
  FROM stage_ids listed
 WHERE i.app_id = :app::integer AND i.job = :job::text AND i.stream = :stream::text AND i.item_key = listed.item_key
   AND i.state = 'done' AND i.fingerprint = :filters::text AND i.run_id < :run
   AND i.run_id > (SELECT coalesce(max(r.run_id), 0) FROM runs r
                    WHERE r.app_id = :app AND r.job = :job AND r.finished_at IS NOT NULL AND r.exit_code <> :superseded_code)
