-- The newest approval of a job's policy, and the rows of the batches that follow from it. No other approval counts.
SELECT p.approval_id, p.policy_sha256, p.policy IS NOT NULL AS names_rules, p.maximum_rows, p.approved_at, p.approved_by, p.expires_at, p.withdrawn_at, p.withdrawn_by,
       p.expires_at <= clock_timestamp() AS is_expired,
       (SELECT coalesce(sum(b.approved_rows), 0)::bigint FROM action_batches b
         WHERE b.app_id = p.app_id AND b.job = p.job AND b.policy_approval_id = p.approval_id) AS approved_rows
  FROM action_policy_approvals p WHERE p.app_id = :app AND p.job = :job ORDER BY p.approval_id DESC LIMIT 1
