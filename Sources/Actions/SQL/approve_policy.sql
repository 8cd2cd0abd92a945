-- Approves the policy of a job for :term_milliseconds; the other parameters are named after columns.
INSERT INTO action_policy_approvals (app_id, job, action, policy_sha256, policy, maximum_rows, expires_at)
VALUES (:app, :job, :action, :policy_hash, :policy, :maximum_rows,
        clock_timestamp() + :term_milliseconds::bigint * interval '1 millisecond')
