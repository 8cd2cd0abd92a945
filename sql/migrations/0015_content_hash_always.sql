-- Does a row also lose its content_hash when somebody changes it with session_replication_role = replica?
--
-- Large repairs by hand are often made so, to spare the triggers; a replay would take the row for what StoreLedger wrote. A
-- subscriber of logical replication changes nothing by this: where the hash came as NULL, it stays NULL.
ALTER TABLE transactions ENABLE ALWAYS TRIGGER forget_content_hash;
ALTER TABLE refunds ENABLE ALWAYS TRIGGER forget_content_hash;
ALTER TABLE renewals ENABLE ALWAYS TRIGGER forget_content_hash;
ALTER TABLE notifications ENABLE ALWAYS TRIGGER forget_content_hash;
