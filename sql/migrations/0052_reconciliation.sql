-- Did the receiver get every notification that Apple sent?
--
-- storeledger reconcile compares, for each closed UTC day and notification type, the notifications that the receiver stored with
-- those that runs found in Apple's notification history:
--
-- 1. A notification is in the history if a run has stored one of its delivery attempts: Apple's history lists them with it, and
--    nothing else writes them.
-- 2. Apple was answered 200 if an attempt has the result SUCCESS. Attempts before the receiver's first receipt went to another
--    server and do not count.
-- 3. What was received and is not in the history is read again by the next run, because some notifications enter the history late.
CREATE TABLE notification_reconciliation (
    app_id                  integer     NOT NULL REFERENCES apps,
    day                     date        NOT NULL,
    notification_type       text        NOT NULL,
    received                bigint      NOT NULL,
    in_history              bigint      NOT NULL,
    received_and_in_history bigint      NOT NULL,
    recovered               bigint      NOT NULL,
    recovered_by_result     jsonb       NOT NULL,
    answered_but_missing    bigint      NOT NULL,
    to_be_read_again        bigint      NOT NULL,
    unexplained             bigint      NOT NULL,
    unprovable              bigint      NOT NULL,
    not_listed_since        timestamptz,
    checked_at              timestamptz NOT NULL,
    PRIMARY KEY (app_id, day, notification_type)
);
COMMENT ON TABLE notification_reconciliation IS
    'What storeledger reconcile found: the notifications that the receiver stored, compared with Apple''s notification history, by closed day and type.';
COMMENT ON COLUMN notification_reconciliation.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN notification_reconciliation.day IS 'The day of Apple''s signature, in UTC.';
COMMENT ON COLUMN notification_reconciliation.notification_type IS 'Apple''s notificationType, such as DID_RENEW.';
COMMENT ON COLUMN notification_reconciliation.received IS 'Notifications of version 2 that the receiver stored and verified.';
COMMENT ON COLUMN notification_reconciliation.in_history IS
    'Notifications of Apple''s history that were received, or that Apple tried to deliver to the receiver.';
COMMENT ON COLUMN notification_reconciliation.received_and_in_history IS 'Notifications that were received and are in the history.';
COMMENT ON COLUMN notification_reconciliation.recovered IS
    'Notifications that Apple could not deliver, and that runs loaded from the history.';
COMMENT ON COLUMN notification_reconciliation.recovered_by_result IS
    'The number of recovered notifications by Apple''s sendAttemptResult of the last attempt, such as {"TIMED_OUT": 2}.';
COMMENT ON COLUMN notification_reconciliation.answered_but_missing IS
    'Notifications that the server answered with success, and that the receiver does not have: they were lost here. Runs loaded them from the history.';
COMMENT ON COLUMN notification_reconciliation.to_be_read_again IS
    'Notifications that were received and are not in the history, before the day was read again.';
COMMENT ON COLUMN notification_reconciliation.unexplained IS
    'Notifications that were received and are not in the history, also after the day was read again.';
COMMENT ON COLUMN notification_reconciliation.unprovable IS
    'Notifications that were received and are not in the history, of days that Apple did not serve any more when they were checked.';
COMMENT ON COLUMN notification_reconciliation.not_listed_since IS
    'When a check first found notifications that are not in the history; NULL if there are none.';
COMMENT ON COLUMN notification_reconciliation.checked_at IS 'When the day was last checked.';

COMMENT ON COLUMN crawl_items.item_key IS
    'For a customer, the transaction ID. For the notifications of the whole app, the time window as two UNIX times in milliseconds with ".." between them and a mark of the filters; "+second" follows for the second reading of a closed day, and "+again" for a day that was read again because the receiver had notifications that Apple''s history did not list. For the failed deliveries of the last seven days, "failures#" and the mark of the filters.';

-- The table belongs to the ledger's owner. Roles that load already may use it before sql/roles.sql runs again.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE notification_reconciliation OWNER TO %I', pg_get_userbyid(runs.relowner))
          FROM pg_class c JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> c.relowner
         WHERE c.oid = 'notification_reconciliation'::regclass
        UNION ALL
        SELECT DISTINCT format('GRANT SELECT, INSERT, UPDATE ON notification_reconciliation TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.oid = 'runs'::regclass AND a.privilege_type = 'INSERT' AND a.grantee <> c.relowner AND a.grantee <> 0
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
