-- Who are the members of a group?
--
-- Readers: analyst.
CREATE OR REPLACE VIEW masked_group_members WITH (security_barrier) AS
SELECT app_id, group_id, app_transaction_id, asked_at, first_seen_at, last_changed_at, last_run_id FROM group_members;
COMMENT ON VIEW masked_group_members IS 'Members of groups for analysts: all of group_members.';
