-- The groups whose members a run requests: those that customers of the app are in.
--
-- A retry takes up its failed groups itself.
SELECT DISTINCT g.group_id FROM customer_groups g
 WHERE g.app_id = :app AND NOT EXISTS (SELECT FROM runs r WHERE r.app_id = :app AND r.run_id = :run AND r.is_retry)
