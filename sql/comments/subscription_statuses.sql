COMMENT ON TABLE subscription_statuses IS 'Apple''s own status of each subscription, from Get All Subscription Statuses.';
COMMENT ON COLUMN subscription_statuses.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN subscription_statuses.original_transaction_id IS 'The subscription: the ID of its first transaction.';
COMMENT ON COLUMN subscription_statuses.subscription_group_identifier IS 'Apple''s identifier of the subscription group.';
COMMENT ON COLUMN subscription_statuses.status IS
    'Apple''s status: 1 active, 2 expired, 3 in billing retry, 4 in the grace period, 5 revoked.';
COMMENT ON COLUMN subscription_statuses.transaction_id IS 'The newest transaction of the subscription, in transactions.';
COMMENT ON COLUMN subscription_statuses.asked_at IS
    'When Apple answered, by the database''s clock: with the status, or without the subscription (ended_at). The newest answer is kept.';
COMMENT ON COLUMN subscription_statuses.first_seen_at IS 'When StoreLedger first stored an answer for this key.';
COMMENT ON COLUMN subscription_statuses.last_changed_at IS 'When an answer last differed from the one before.';
COMMENT ON COLUMN subscription_statuses.last_run_id IS 'The run that last wrote the row.';
COMMENT ON COLUMN subscription_statuses.records_signed_date IS
    'The later signedDate of the two signed records of the newest answer. The status counts only while the ledger has no later signature of this subscription. NULL for an answer that an earlier version of StoreLedger stored.';
COMMENT ON COLUMN subscription_statuses.ended_at IS
    'When Apple first answered without this subscription, although the request included its status: it no longer has the status. NULL while the newest answer has it. The views ignore the status then.';
