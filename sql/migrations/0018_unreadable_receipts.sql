-- Whose receipts of an ID list could not be read, and which unknown fields have an explanation?
ALTER TABLE runs ADD COLUMN unreadable_receipts bigint NOT NULL DEFAULT 0;
ALTER TABLE schema_drift ADD COLUMN remark text;
