-- Which requests that change something were planned, approved and sent, and what became of each?
--
-- 1. A plan writes a batch with all of its rows in one transaction. Nothing changes them later.
-- 2. An approval names the SHA-256 of the rows and their number. Other rights are needed for it than for planning and sending, so
--    that two roles can share the work; sql/roles.sql.
-- 3. An attempt, with the ID of the request, is committed before the request is sent. A process that is killed therefore leaves a
--    row in state sending, and the next process knows that Apple may have applied the request.
CREATE TABLE action_batches (
    app_id              integer     NOT NULL REFERENCES apps,
    batch_id            uuid        NOT NULL,
    job                 text        NOT NULL,
    action              text        NOT NULL,
    rows_sha256         text        NOT NULL CHECK (rows_sha256 ~ '^[0-9a-f]{64}$'),
    occurrence          integer     NOT NULL CHECK (occurrence >= 0),
    input_name          text,
    input_sha256        text,
    input_columns       text[]      NOT NULL,
    row_count           bigint      NOT NULL,
    rows_to_send        bigint      NOT NULL,
    rows_invalid        bigint      NOT NULL,
    rows_ineligible     bigint      NOT NULL,
    rows_duplicate      bigint      NOT NULL,
    rows_same           bigint      NOT NULL,
    planned_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    planned_by          text        NOT NULL DEFAULT session_user,
    approval_required   boolean     NOT NULL DEFAULT true,
    approved_at         timestamptz,
    approved_by         text,
    approved_rows       bigint,
    approval_expires_at timestamptz,
    started_at          timestamptz,
    finished_at         timestamptz,
    PRIMARY KEY (app_id, batch_id),
    UNIQUE (app_id, job, rows_sha256, occurrence),
    CHECK (rows_to_send + rows_invalid + rows_ineligible + rows_duplicate + rows_same = row_count),
    CHECK ((approved_at IS NULL) = (approved_rows IS NULL) AND (approved_at IS NULL) = (approval_expires_at IS NULL))
);
COMMENT ON TABLE action_batches IS 'Batches of requests that change something: what was planned, by whom, and who approved it.';
COMMENT ON COLUMN action_batches.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN action_batches.batch_id IS 'A version 5 UUID of rows_sha256 and occurrence. The IDs of the requests are derived from it, so a lost database gives the same IDs.';
COMMENT ON COLUMN action_batches.job IS 'The name of the job.';
COMMENT ON COLUMN action_batches.action IS 'The key of the action in the job file, such as extendRenewalDate.';
COMMENT ON COLUMN action_batches.rows_sha256 IS 'SHA-256 of the app, job, action and normalised rows, hexadecimal: what an approval names.';
COMMENT ON COLUMN action_batches.occurrence IS 'The number of earlier batches of the app with the same rows_sha256.';
COMMENT ON COLUMN action_batches.input_name IS 'The path of the input file; NULL for a query, a retry, or an action without input.';
COMMENT ON COLUMN action_batches.input_sha256 IS 'SHA-256 of the input file when it was planned, hexadecimal. A later change of the file does not change the batch.';
COMMENT ON COLUMN action_batches.input_columns IS 'The columns of the input, in their order. They are kept in the result files.';
COMMENT ON COLUMN action_batches.row_count IS 'The rows of the input.';
COMMENT ON COLUMN action_batches.rows_to_send IS 'The rows that the plan found valid: what an approval counts.';
COMMENT ON COLUMN action_batches.rows_invalid IS 'The rows with a value that Apple would refuse.';
COMMENT ON COLUMN action_batches.rows_ineligible IS 'The rows that the ledger''s records rule out.';
COMMENT ON COLUMN action_batches.rows_duplicate IS 'The rows for a subscription or purchase that an earlier row of the batch has.';
COMMENT ON COLUMN action_batches.rows_same IS 'The rows that an earlier batch of the job has already.';
COMMENT ON COLUMN action_batches.planned_at IS 'When the batch was planned.';
COMMENT ON COLUMN action_batches.planned_by IS 'The database role that planned the batch.';
COMMENT ON COLUMN action_batches.approval_required IS 'Whether the batch is sent only after an approval.';
COMMENT ON COLUMN action_batches.approved_at IS 'When the batch was approved; NULL before.';
COMMENT ON COLUMN action_batches.approved_by IS 'The database role that approved the batch.';
COMMENT ON COLUMN action_batches.approved_rows IS 'The number of rows that the approval names.';
COMMENT ON COLUMN action_batches.approval_expires_at IS 'No row is sent for the first time after this moment.';
COMMENT ON COLUMN action_batches.started_at IS 'When the first row was about to be sent.';
COMMENT ON COLUMN action_batches.finished_at IS 'When every row had an outcome, known or not; NULL before.';
CREATE INDEX action_batches_job ON action_batches (app_id, job, planned_at);

-- An approval is given once, by the role that the session belongs to, now.
CREATE FUNCTION record_approval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.approved_at IS NOT NULL THEN
        RAISE EXCEPTION 'batch % is already approved', OLD.rows_sha256;
    END IF;
    NEW.approved_at := clock_timestamp();
    NEW.approved_by := session_user;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION record_approval IS 'Refuses a second approval of a batch, and records the role and the time of the first.';
REVOKE EXECUTE ON FUNCTION record_approval FROM PUBLIC;
CREATE TRIGGER record_approval BEFORE UPDATE OF approved_at, approved_by, approved_rows, approval_expires_at ON action_batches
    FOR EACH ROW EXECUTE FUNCTION record_approval();

CREATE TABLE action_rows (
    app_id                integer     NOT NULL,
    batch_id              uuid        NOT NULL,
    position              bigint      NOT NULL,
    line                  bigint,
    input                 text[]      NOT NULL,
    parameters            jsonb,
    subject               text,
    verdict               text        NOT NULL CHECK (verdict IN ('valid', 'invalid', 'ineligible', 'duplicate', 'same')),
    rule                  text,
    reason                text,
    state                 text        NOT NULL CHECK (state IN ('planned', 'approved', 'sending', 'succeeded', 'rejected', 'unknown',
                                                                'confirming', 'not_applied', 'skipped', 'cancelled')),
    stake_milliunits      bigint,
    currency              text,
    expires_date_before   timestamptz,
    transaction_id_before text,
    request_id            uuid,
    may_be_applied        boolean     NOT NULL DEFAULT false,
    attempts              integer     NOT NULL DEFAULT 0,
    http_status           integer,
    apple_code            bigint,
    apple_message         text,
    answer                jsonb,
    confirmed_by          text,
    first_sent_at         timestamptz,
    last_sent_at          timestamptz,
    ended_at              timestamptz,
    claimable_at          timestamptz,
    lease_owner           uuid,
    lease_epoch           bigint      NOT NULL DEFAULT 0,
    PRIMARY KEY (app_id, batch_id, position),
    CHECK ((verdict = 'valid') OR state IN ('skipped', 'cancelled')),
    CHECK (NOT may_be_applied OR request_id IS NOT NULL)
);
COMMENT ON TABLE action_rows IS 'The rows of each batch: what the plan found, whether and when each was sent, and what became of it.';
COMMENT ON COLUMN action_rows.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN action_rows.batch_id IS 'The batch, in action_batches.';
COMMENT ON COLUMN action_rows.position IS 'The position of the row in the input, from 1.';
COMMENT ON COLUMN action_rows.line IS 'The line of the input file in which the row begins; NULL without a file.';
COMMENT ON COLUMN action_rows.input IS 'The cells of the input as they were read, in the order of action_batches.input_columns. Empty after an erasure.';
COMMENT ON COLUMN action_rows.parameters IS 'The normalised values that are sent, by column, with the defaults of the job file. NULL for an invalid row and after an erasure.';
COMMENT ON COLUMN action_rows.subject IS 'The ID of the subscription, transaction or product that the row changes; NULL if the action has none, if the row has no valid ID, and after an erasure.';
COMMENT ON COLUMN action_rows.verdict IS 'What the plan found: valid, invalid, ineligible, duplicate, or same (as a row of an earlier batch).';
COMMENT ON COLUMN action_rows.rule IS 'The rule that sorted the row out: a column for an invalid row, otherwise a rule such as not_active.';
COMMENT ON COLUMN action_rows.reason IS 'The same as a sentence; NULL for a valid row.';
COMMENT ON COLUMN action_rows.state IS
    'planned, approved, sending (a request is under way, or its process was killed), succeeded, rejected (Apple refused it), unknown (Apple may have applied it), confirming (an unknown outcome is being found out), not_applied (Apple''s data shows that it was not applied), skipped (sorted out by the plan), or cancelled.';
COMMENT ON COLUMN action_rows.stake_milliunits IS 'What the row gives away, in thousandths of a unit of currency, by the ledger''s prices; NULL if nothing or not known.';
COMMENT ON COLUMN action_rows.currency IS 'The currency of stake_milliunits, ISO 4217.';
COMMENT ON COLUMN action_rows.expires_date_before IS 'The subscription''s expiresDate in the ledger when the batch was planned.';
COMMENT ON COLUMN action_rows.transaction_id_before IS 'The subscription''s last transaction in the ledger when the batch was planned.';
COMMENT ON COLUMN action_rows.request_id IS 'The ID of the request: a version 5 UUID of batch and position, the same for every attempt. NULL before the first.';
COMMENT ON COLUMN action_rows.may_be_applied IS 'Whether a request of the row was sent whose outcome is not known, so that Apple may have applied it.';
COMMENT ON COLUMN action_rows.attempts IS 'The rows of action_attempts.';
COMMENT ON COLUMN action_rows.http_status IS 'The HTTP status of the last answer.';
COMMENT ON COLUMN action_rows.apple_code IS 'Apple''s errorCode in the last answer; NULL if it had none.';
COMMENT ON COLUMN action_rows.apple_message IS 'Apple''s errorMessage in the last answer, or why there was no answer.';
COMMENT ON COLUMN action_rows.answer IS 'Members of Apple''s answer that are kept, such as effectiveDate in UNIX milliseconds.';
COMMENT ON COLUMN action_rows.confirmed_by IS 'What in Apple''s data showed the outcome of a row whose answer was lost; NULL if the answer itself was the outcome. The view actions_confirmed shows what crawls have brought since.';
COMMENT ON COLUMN action_rows.first_sent_at IS 'When the first attempt was recorded, just before its request was sent.';
COMMENT ON COLUMN action_rows.last_sent_at IS 'When the last attempt was recorded.';
COMMENT ON COLUMN action_rows.ended_at IS 'When the outcome was recorded; NULL before.';
COMMENT ON COLUMN action_rows.claimable_at IS 'When a process can take the row: the end of its lease, or the time until which it is put off. NULL for a row with an outcome, and for one that is not approved.';
COMMENT ON COLUMN action_rows.lease_owner IS 'The random number of the process that works on the row; NULL if none does.';
COMMENT ON COLUMN action_rows.lease_epoch IS 'Increases with every lease. An outcome with an older epoch changes nothing.';
-- The statistics of these columns would hold customers' IDs, also after an erasure.
ALTER TABLE action_rows ALTER COLUMN input SET STATISTICS 0, ALTER COLUMN parameters SET STATISTICS 0,
    ALTER COLUMN subject SET STATISTICS 0, ALTER COLUMN reason SET STATISTICS 0, ALTER COLUMN apple_message SET STATISTICS 0,
    ALTER COLUMN answer SET STATISTICS 0, ALTER COLUMN confirmed_by SET STATISTICS 0,
    ALTER COLUMN transaction_id_before SET STATISTICS 0;
CREATE INDEX action_rows_claimable ON action_rows (app_id, batch_id, claimable_at) WHERE claimable_at IS NOT NULL;
CREATE INDEX action_rows_subject ON action_rows (app_id, subject) WHERE subject IS NOT NULL;

-- A new plan replaces a plan that was not approved, because its rows were never sent. No other rows are deleted by a plan or by sending, so
-- these roles need no right to delete.
CREATE FUNCTION discard_plans(app integer, of_job text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    discarded uuid[];
BEGIN
    SELECT coalesce(array_agg(batch_id), '{}') INTO discarded FROM (
        SELECT batch_id FROM action_batches
         WHERE app_id = app AND job = of_job AND approved_at IS NULL AND started_at IS NULL FOR UPDATE) b;
    DELETE FROM action_rows WHERE app_id = app AND batch_id = ANY (discarded);
    DELETE FROM action_batches WHERE app_id = app AND batch_id = ANY (discarded);
    RETURN cardinality(discarded);
END $$;
COMMENT ON FUNCTION discard_plans IS 'Deletes the batches of a job that were neither approved nor started, and returns their number.';
REVOKE EXECUTE ON FUNCTION discard_plans FROM PUBLIC;

CREATE TABLE action_attempts (
    app_id         integer     NOT NULL,
    batch_id       uuid        NOT NULL,
    position       bigint      NOT NULL,
    attempt        integer     NOT NULL,
    purpose        text        NOT NULL CHECK (purpose IN ('send', 'repeat', 'read back', 'status')),
    sent_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at       timestamptz,
    request_sha256 bytea       NOT NULL,
    http_status    integer,
    apple_code     bigint,
    message        text,
    answer_sha256  bytea,
    answer         bytea,
    PRIMARY KEY (app_id, batch_id, position, attempt)
);
COMMENT ON TABLE action_attempts IS 'Every request of each row, recorded before it was sent, and Apple''s answer.';
COMMENT ON COLUMN action_attempts.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN action_attempts.batch_id IS 'The batch, in action_batches.';
COMMENT ON COLUMN action_attempts.position IS 'The row, in action_rows.';
COMMENT ON COLUMN action_attempts.attempt IS 'The number of the attempt, from 1.';
COMMENT ON COLUMN action_attempts.purpose IS
    'send: the first request. repeat: the same request after a lost answer. read back: a request that only reads. status: the state of a request that Apple works on for longer.';
COMMENT ON COLUMN action_attempts.sent_at IS 'When the attempt was recorded, just before the request was sent.';
COMMENT ON COLUMN action_attempts.ended_at IS 'When the answer or the failure was recorded; NULL if the process was killed before that.';
COMMENT ON COLUMN action_attempts.request_sha256 IS 'SHA-256 of method, path and body. The body follows from action_rows.parameters and request_id.';
COMMENT ON COLUMN action_attempts.http_status IS 'The HTTP status; NULL without an answer.';
COMMENT ON COLUMN action_attempts.apple_code IS 'Apple''s errorCode; NULL if the answer has none.';
COMMENT ON COLUMN action_attempts.message IS 'Apple''s errorMessage, or why there was no answer.';
COMMENT ON COLUMN action_attempts.answer_sha256 IS 'SHA-256 of the body of the answer.';
COMMENT ON COLUMN action_attempts.answer IS 'The body of the answer, at most 64 KiB. NULL without an answer and after an erasure.';
ALTER TABLE action_attempts ALTER COLUMN answer SET STATISTICS 0, ALTER COLUMN message SET STATISTICS 0;

-- Roles that erase already can remove a customer's rows before sql/roles.sql runs again.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format(rights, pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a,
               unnest(ARRAY['GRANT SELECT, UPDATE ON action_rows TO %I', 'GRANT SELECT, DELETE ON action_attempts TO %I']) rights
         WHERE c.oid = 'transactions'::regclass AND a.grantee <> c.relowner AND a.grantee <> 0 AND a.privilege_type = 'DELETE'
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
