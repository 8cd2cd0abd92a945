-- Which notifications has Apple posted to storeledger receive, and which of them are in the ledger's records?
--
-- A verified notification is committed here before it is answered. It becomes records later: in the transaction that writes the
-- records, body is cleared and normalised_at is set. So a row without normalised_at is work that any receiver can take.
--
-- A notification that cannot be verified is kept under the hash of its text, so that a forged one never takes the place of
-- Apple's with the same UUID. The receiver limits how many it keeps, and removes them after 30 days.
CREATE TABLE received_notifications (
    app_id                  integer     NOT NULL REFERENCES apps,
    notification_uuid       text        NOT NULL,
    version                 smallint    NOT NULL CHECK (version IN (1, 2)),
    notification_type       text,
    subtype                 text,
    signed_date             timestamptz,
    original_transaction_id text,
    received_at             timestamptz NOT NULL,
    last_received_at        timestamptz NOT NULL,
    receipts                bigint      NOT NULL DEFAULT 1,
    refused_because         text,
    body                    text,
    body_sha256             bytea       NOT NULL,
    normalised_at           timestamptz,
    PRIMARY KEY (app_id, notification_uuid)
);
-- The text is base64, which compression hardly shortens, and it is read once.
ALTER TABLE received_notifications ALTER COLUMN body SET STORAGE EXTERNAL;
-- Statistics would contain texts and IDs of customers.
ALTER TABLE received_notifications ALTER COLUMN body SET STATISTICS 0, ALTER COLUMN original_transaction_id SET STATISTICS 0,
    ALTER COLUMN notification_uuid SET STATISTICS 0, ALTER COLUMN body_sha256 SET STATISTICS 0;
-- A row changes a second time at once, so dead rows and their texts accumulate by the number of notifications.
ALTER TABLE received_notifications SET (autovacuum_vacuum_scale_factor = 0.02, toast.autovacuum_vacuum_scale_factor = 0.02);

CREATE INDEX received_notifications_pending ON received_notifications (app_id, received_at)
    WHERE normalised_at IS NULL AND refused_because IS NULL;
CREATE INDEX received_notifications_refused ON received_notifications (app_id, last_received_at) WHERE refused_because IS NOT NULL;
CREATE INDEX received_notifications_customer ON received_notifications (app_id, original_transaction_id)
    WHERE original_transaction_id IS NOT NULL;
-- Rows lie in the order in which Apple signed them, so the index has one entry for a megabyte of them.
CREATE INDEX received_notifications_signed_date ON received_notifications USING brin (signed_date);
-- When did the receiver begin, and what did it receive in the last day?
CREATE INDEX received_notifications_received_at ON received_notifications (app_id, received_at);

COMMENT ON TABLE received_notifications IS 'Notifications that Apple posted to storeledger receive; one row for each, however often it came.';
COMMENT ON COLUMN received_notifications.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN received_notifications.notification_uuid IS
    'Apple''s notificationUUID. For version 1, which has none, ''v1-'' and the SHA-256 of the notification without its password. For a refused one ''refused-'' and the SHA-256 of its text.';
COMMENT ON COLUMN received_notifications.version IS '2, signed by Apple, or 1, which is not signed and never becomes a record.';
COMMENT ON COLUMN received_notifications.notification_type IS 'Apple''s notificationType (version 1: notification_type). Of a refused notification it is only what the text claims.';
COMMENT ON COLUMN received_notifications.subtype IS 'Apple''s subtype.';
COMMENT ON COLUMN received_notifications.signed_date IS 'When Apple signed the notification. NULL for version 1 and for a refused notification.';
COMMENT ON COLUMN received_notifications.original_transaction_id IS
    'The purchase that the notification is about, as Apple signed it; for version 1 as the text says. NULL if it is about none.';
COMMENT ON COLUMN received_notifications.received_at IS 'When the notification was first received, by the database''s clock.';
COMMENT ON COLUMN received_notifications.last_received_at IS 'When it was last received.';
COMMENT ON COLUMN received_notifications.receipts IS 'How often it was received. Apple repeats a notification whose answer it did not get.';
COMMENT ON COLUMN received_notifications.refused_because IS
    'Why the notification is not accepted, as in rejected_records.reason, or password, no_secret or conflict. NULL for an accepted one.';
COMMENT ON COLUMN received_notifications.body IS
    'The signedPayload until the notification is normalised; NULL afterwards. For version 1 a part of the text, without password and receipts. For a refused notification the text, at most 256 KiB.';
COMMENT ON COLUMN received_notifications.body_sha256 IS 'SHA-256 of the signed payload, by which a second content under the same UUID is recognised; otherwise of the text.';
COMMENT ON COLUMN received_notifications.normalised_at IS
    'When the notification became records; for version 1, when its customer was marked as changed. NULL while that is due, and for a refused notification.';
COMMENT ON COLUMN changed_customers.marked_at IS 'When the replay accepted the record, or when the receiver handled the notification.';
COMMENT ON COLUMN changed_customers.signed_date IS 'When Apple signed the record; for a notification of version 1 when it was received.';
COMMENT ON TABLE changed_customers IS
    'Customers whose records a replay accepted after a run had already processed their notification, and customers named by a notification of version 1. The next run of a job with changedSince requests them.';

-- The table belongs to the ledger's owner. Roles that load or erase may use it before sql/roles.sql runs again.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE received_notifications OWNER TO %I', pg_get_userbyid(runs.relowner))
          FROM pg_class c JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> c.relowner
         WHERE c.oid = 'received_notifications'::regclass
        UNION ALL
        SELECT DISTINCT format('GRANT SELECT, INSERT, UPDATE, DELETE ON received_notifications TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.oid = 'runs'::regclass AND a.privilege_type = 'INSERT' AND a.grantee <> c.relowner AND a.grantee <> 0
        UNION ALL
        SELECT DISTINCT format('GRANT SELECT, DELETE ON received_notifications TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.oid = 'transactions'::regclass AND a.privilege_type = 'DELETE' AND a.grantee <> c.relowner AND a.grantee <> 0
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
