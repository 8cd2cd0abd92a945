COMMENT ON TABLE customer_groups IS
    'The organizations and groups of each listed customer, from Get Customer Groups. Membership is no entitlement: that is in transactions. A group that Apple''s newest answer for the customer no longer has leaves the table, and so does the sandbox''s placeholder group 900000000000000000.';
COMMENT ON COLUMN customer_groups.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN customer_groups.group_id IS 'Apple''s ID of the group.';
COMMENT ON COLUMN customer_groups.app_transaction_id IS
    'The customer: the appTransactionId of the listed ID''s transactions in the ledger, because Apple''s answer has none. The listed ID itself until the ledger has such a transaction; the next answer replaces it.';
COMMENT ON COLUMN customer_groups.listed_transaction_id IS 'The listed ID for which Apple answered.';
COMMENT ON COLUMN customer_groups.group_type IS 'Apple''s groupType: ORGANIZATION, or CONSUMER for a subscriber who bought seats.';
COMMENT ON COLUMN customer_groups.role_product_ids IS 'The products for which the customer has a role in the organization; each has its role at the same place in roles.';
COMMENT ON COLUMN customer_groups.roles IS 'Apple''s role for each product in role_product_ids, such as ADMIN or NONE. Empty for CONSUMER.';
COMMENT ON COLUMN customer_groups.asked_at IS 'When Apple answered, by the database''s clock; the newest answer is kept.';
COMMENT ON COLUMN customer_groups.first_seen_at IS 'When StoreLedger first stored an answer for this key.';
COMMENT ON COLUMN customer_groups.last_changed_at IS 'When an answer last differed from the one before.';
COMMENT ON COLUMN customer_groups.last_run_id IS 'The run that last wrote the row.';
