COMMENT ON TABLE action_policy_approvals IS
    'Approvals of policies: while one is in force, storeledger actions run --follow answers new refund requests without an approval of each batch.';
COMMENT ON COLUMN action_policy_approvals.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN action_policy_approvals.approval_id IS 'The number of the approval. Of a job only the newest one counts.';
COMMENT ON COLUMN action_policy_approvals.job IS 'The name of the job.';
COMMENT ON COLUMN action_policy_approvals.action IS 'The key of the action in the job file: sendConsumptionInformation.';
COMMENT ON COLUMN action_policy_approvals.policy_sha256 IS
    'SHA-256 of the app, the job, the source of the consents and the rules of the policy, hexadecimal.';
COMMENT ON COLUMN action_policy_approvals.policy IS
    'The source of the consents and the rules of the policy, by which the database checks the rows; NULL in an approval of an earlier version, which approves no further row.';
COMMENT ON COLUMN action_policy_approvals.maximum_rows IS 'The most rows of all batches that follow from this approval.';
COMMENT ON COLUMN action_policy_approvals.approved_at IS 'When the policy was approved.';
COMMENT ON COLUMN action_policy_approvals.approved_by IS 'The database role that approved the policy.';
COMMENT ON COLUMN action_policy_approvals.expires_at IS 'No batch is planned, and no row is sent for the first time, after this moment.';
COMMENT ON COLUMN action_policy_approvals.withdrawn_at IS 'When the approval was withdrawn; NULL otherwise.';
COMMENT ON COLUMN action_policy_approvals.withdrawn_by IS 'The database role that withdrew the approval.';
