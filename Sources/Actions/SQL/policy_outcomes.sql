-- The outcomes of all rows that follow from an approval of a policy, and how many of the last ones Apple rejected in a row.
WITH ended AS (
    SELECT r.state, r.ended_at FROM action_batches b JOIN action_rows r ON r.app_id = b.app_id AND r.batch_id = b.batch_id
     WHERE b.app_id = :app AND b.job = :job AND b.policy_approval_id = :approval::bigint AND r.state IN ('succeeded', 'rejected', 'not_applied')
)
SELECT count(*) AS ended, count(*) FILTER (WHERE state = 'rejected') AS rejected,
       count(*) FILTER (WHERE state = 'rejected'
                          AND ended_at > coalesce((SELECT max(ended_at) FROM ended WHERE state <> 'rejected'), '-infinity')) AS consecutive
  FROM ended
