-- Removes the members of a group that no page of this run had.
--
-- Rows that another run stored since this run began stay.
DELETE FROM group_members m
 WHERE m.app_id = :app::integer AND m.group_id = :group::text AND m.last_run_id IS DISTINCT FROM :run::bigint
   AND m.asked_at < :asked_since::timestamptz
