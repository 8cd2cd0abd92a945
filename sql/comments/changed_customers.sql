COMMENT ON TABLE changed_customers IS
    'Customers whose records a replay accepted after a run had already processed their notification, and customers named by a notification of version 1. The next run of a job with changedSince requests them.';
COMMENT ON COLUMN changed_customers.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN changed_customers.mark_id IS 'StoreLedger''s number for the row.';
COMMENT ON COLUMN changed_customers.transaction_id IS 'An original transaction ID or a transaction ID of the customer.';
COMMENT ON COLUMN changed_customers.app_transaction_id IS 'The customer''s app transaction ID. NULL if it is unknown.';
COMMENT ON COLUMN changed_customers.signed_date IS 'When Apple signed the record; for a notification of version 1 when it was received.';
COMMENT ON COLUMN changed_customers.marked_at IS 'When the replay accepted the record, or when the receiver handled the notification.';
