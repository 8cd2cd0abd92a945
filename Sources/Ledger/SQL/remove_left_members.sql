-- Removes the members of a group that no page of this run had.
--
-- Rows that another run stored since this run began stay. If a page had a rejected member, nothing is removed, because it can be any of them.
DELETE FROM group_members m
 WHERE m.app_id = :app::integer AND m.group_id = :group::text AND m.last_run_id IS DISTINCT FROM :run::bigint
   AND m.asked_at < :asked_since::timestamptz
   AND NOT EXISTS (SELECT FROM crawl_items i
                    WHERE i.app_id = m.app_id AND i.run_id = :run AND i.stream = 'groupMembers' AND i.item_key = :group AND i.records_rejected > 0)
