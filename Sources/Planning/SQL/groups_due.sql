-- The groups whose members a run requests: those that customers of the app are in, and those that had members.
--
-- The last answer about a group without a known customer says whether it still has members. A retry takes up its failed groups itself.
SELECT g.group_id FROM customer_groups g
 WHERE g.app_id = :app AND NOT EXISTS (SELECT FROM runs r WHERE r.app_id = :app AND r.run_id = :run AND r.is_retry)
 UNION
SELECT g.group_id FROM group_members g
 WHERE g.app_id = :app AND NOT EXISTS (SELECT FROM runs r WHERE r.app_id = :app AND r.run_id = :run AND r.is_retry)
