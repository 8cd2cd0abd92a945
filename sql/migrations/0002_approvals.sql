-- When did the approval of a batch end, what is its hash made of, and which rows can have been sent?
--
-- 1. A withdrawal, a newer approval and a changed policy end the approvals of the job's batches. The function end_approval cancels their rows
--    that were not sent, in the same transaction.
-- 2. rows_sha256 now covers everything that is sent or that decides an outcome. The IDs of requests still follow from the input alone, so that
--    a lost database gives the same IDs: parameters_sha256.
-- 3. first_sent_at is only set while a request of the row can have been sent.
CREATE TABLE action_jobs (
    app_id integer NOT NULL REFERENCES apps,
    job    text    NOT NULL,
    PRIMARY KEY (app_id, job)
);

ALTER TABLE action_batches
    ADD COLUMN parameters_sha256 text CHECK (parameters_sha256 ~ '^[0-9a-f]{64}$'),
    ADD COLUMN approval_ended_at timestamptz,
    ADD COLUMN approval_ended_by text,
    ADD COLUMN approval_ended_because text CHECK (approval_ended_because IN ('withdrawn', 'superseded', 'policy changed', 'expired', 'removed')),
    ADD CONSTRAINT action_batches_approval_ended_check
        CHECK ((approval_ended_at IS NULL) = (approval_ended_because IS NULL) AND (approval_ended_at IS NULL) = (approval_ended_by IS NULL));

UPDATE action_rows SET first_sent_at = NULL
 WHERE first_sent_at IS NOT NULL AND NOT may_be_applied AND state IN ('planned', 'approved', 'skipped', 'cancelled');
UPDATE action_rows SET first_sent_at = coalesce(last_sent_at, now()) WHERE first_sent_at IS NULL AND may_be_applied;
ALTER TABLE action_rows
    ADD CONSTRAINT action_rows_sent_check CHECK (NOT may_be_applied OR first_sent_at IS NOT NULL),
    ADD CONSTRAINT action_rows_unsent_check
        CHECK (state NOT IN ('planned', 'approved', 'skipped', 'cancelled') OR first_sent_at IS NULL AND NOT may_be_applied);

-- Batches whose approval has ended: those of removed jobs, and those that follow from an approval of a policy that was withdrawn or replaced.
UPDATE action_batches b SET approval_ended_at = now(), approval_ended_by = session_user, approval_ended_because = ended.because
  FROM (SELECT x.app_id, x.batch_id,
               CASE WHEN x.removed_at IS NOT NULL THEN 'removed' WHEN p.withdrawn_at IS NOT NULL THEN 'withdrawn' ELSE 'superseded' END AS because
          FROM action_batches x LEFT JOIN action_policy_approvals p ON p.app_id = x.app_id AND p.approval_id = x.policy_approval_id
         WHERE x.removed_at IS NOT NULL
            OR x.finished_at IS NULL
               AND (p.withdrawn_at IS NOT NULL
                    OR EXISTS (SELECT FROM action_policy_approvals n
                                WHERE n.app_id = p.app_id AND n.job = p.job AND n.approval_id > p.approval_id))) ended
 WHERE b.app_id = ended.app_id AND b.batch_id = ended.batch_id;
UPDATE action_rows r SET state = 'cancelled', ended_at = now(), claimable_at = NULL, lease_owner = NULL, lease_epoch = r.lease_epoch + 1,
       apple_message = format('not sent: the approval has ended (%s)', b.approval_ended_because)
  FROM action_batches b
 WHERE r.app_id = b.app_id AND r.batch_id = b.batch_id AND b.approval_ended_because IS NOT NULL AND r.state IN ('planned', 'approved');

-- An answer to a refund request is approved with its batch. Those whose deadline has passed, and all but one for each request, are ended.
UPDATE action_rows r SET state = 'approved'
  FROM action_batches b
 WHERE r.app_id = b.app_id AND r.batch_id = b.batch_id AND (b.approved_at IS NOT NULL OR NOT b.approval_required)
   AND r.state = 'planned' AND r.send_by IS NOT NULL;
UPDATE action_rows r SET
       state = CASE WHEN r.may_be_applied THEN 'unknown' ELSE 'cancelled' END, ended_at = now(), claimable_at = NULL, lease_owner = NULL,
       lease_epoch = r.lease_epoch + 1,
       apple_message = CASE WHEN held.is_late THEN format('not sent%s: Apple took the answer until %s', CASE WHEN r.may_be_applied THEN ' again' END,
                                                          to_char(r.send_by AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'))
                            ELSE 'not sent: another batch has the answer to the request' END
  FROM (SELECT x.app_id, x.batch_id, x.position, x.send_by <= now() AS is_late,
               row_number() OVER (PARTITION BY x.app_id, x.subject, x.send_by <= now() ORDER BY x.may_be_applied DESC, b.planned_at DESC) AS place
          FROM action_rows x JOIN action_batches b ON b.app_id = x.app_id AND b.batch_id = x.batch_id
         WHERE x.send_by IS NOT NULL AND x.subject IS NOT NULL AND x.ended_at IS NULL AND x.state IN ('approved', 'sending', 'confirming', 'unknown')) held
 WHERE r.app_id = held.app_id AND r.batch_id = held.batch_id AND r.position = held.position AND (held.is_late OR held.place > 1);

-- The hashes of batches that can still be sent, in their new form. A batch that an earlier version planned keeps the hash that its approval names.
CREATE TEMP TABLE open_batches ON COMMIT DROP AS
SELECT b.app_id, b.batch_id FROM action_batches b
 WHERE b.finished_at IS NULL
    OR EXISTS (SELECT FROM action_rows r WHERE r.app_id = b.app_id AND r.batch_id = b.batch_id
                  AND r.state IN ('planned', 'approved', 'sending', 'confirming', 'unknown'));
UPDATE action_rows r SET salt = gen_random_uuid() FROM open_batches o
 WHERE r.app_id = o.app_id AND r.batch_id = o.batch_id AND r.salt IS NULL AND NOT (r.parameters IS NULL AND r.input = '{}');
UPDATE action_rows r SET salted_sha256 = CASE WHEN r.salt IS NULL THEN coalesce(r.salted_sha256, sha256('')) ELSE
           sha256(convert_to(ROW(r.salt, r.position, r.verdict, r.input, r.subject, r.parameters, r.stake_milliunits, r.currency,
                                 extract(epoch FROM r.expires_date_before), r.transaction_id_before, extract(epoch FROM r.send_by),
                                 r.consistency_token, r.request_reference_id_before)::text, 'UTF8')) END
  FROM open_batches o
 WHERE r.app_id = o.app_id AND r.batch_id = o.batch_id;
UPDATE action_batches b SET salted_sha256 =
           (SELECT encode(sha256(string_agg(r.salted_sha256, '' ORDER BY r.position)), 'hex') FROM action_rows r
             WHERE r.app_id = b.app_id AND r.batch_id = b.batch_id)
  FROM open_batches o
 WHERE b.app_id = o.app_id AND b.batch_id = o.batch_id;

DROP FUNCTION IF EXISTS salted_row_sha256(uuid, bigint, text, text[], text, jsonb, text);
DROP FUNCTION IF EXISTS lock_policy_approvals(integer, text);

-- The table belongs to the ledger's owner. Roles that act and approve already may use the new columns before sql/roles.sql runs again.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE action_jobs OWNER TO %I', pg_get_userbyid(runs.relowner))
          FROM pg_class c JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> c.relowner
         WHERE c.oid = 'action_jobs'::regclass
        UNION ALL
        SELECT DISTINCT format('GRANT INSERT (parameters_sha256), UPDATE (approval_ended_because) ON action_batches TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.oid = 'action_attempts'::regclass AND a.grantee <> c.relowner AND a.grantee <> 0 AND a.privilege_type = 'INSERT'
        UNION ALL
        SELECT DISTINCT format('GRANT UPDATE (approval_ended_because) ON action_batches TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
         WHERE c.oid = 'action_batches'::regclass AND t.attname = 'approved_at' AND a.grantee <> c.relowner AND a.grantee <> 0
           AND a.privilege_type = 'UPDATE'
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
