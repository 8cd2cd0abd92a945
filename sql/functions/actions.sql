-- Who may approve, withdraw and discard batches of actions, and what is recorded of it?

-- An approval is recorded once, with the session's role and the present time. One that follows from the approval of a policy names the
-- role that approved the policy. An approval can be made shorter, never longer.
CREATE OR REPLACE FUNCTION record_approval() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF OLD.approved_at IS NOT NULL THEN
        IF NEW.approval_expires_at < OLD.approval_expires_at
           AND (NEW.approved_at, NEW.approved_by, NEW.approved_rows, NEW.policy_approval_id)
               IS NOT DISTINCT FROM (OLD.approved_at, OLD.approved_by, OLD.approved_rows, OLD.policy_approval_id) THEN
            RETURN NEW;
        END IF;
        RAISE EXCEPTION 'batch % is already approved', OLD.rows_sha256;
    END IF;
    NEW.approved_at := clock_timestamp();
    NEW.approved_by := session_user;
    IF NEW.policy_approval_id IS NOT NULL THEN
        SELECT p.approved_by INTO STRICT NEW.approved_by FROM action_policy_approvals p
         WHERE p.app_id = NEW.app_id AND p.approval_id = NEW.policy_approval_id;
    END IF;
    RETURN NEW;
END $$;
COMMENT ON FUNCTION record_approval IS
    'Refuses a second approval of a batch, and records the role and the time of the first. An approval can only be made shorter.';

-- A new plan replaces a plan that was not approved, because its rows were never sent. No other rows are deleted by a plan or by sending, so
-- these roles need no right to delete.
CREATE OR REPLACE FUNCTION discard_plans(app integer, of_job text) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
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

CREATE OR REPLACE FUNCTION approve_by_policy(p_app_id integer, p_batch_id uuid, p_term interval) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    batch    action_batches%ROWTYPE;
    approval action_policy_approvals%ROWTYPE;
    approved bigint;
BEGIN
    SELECT b.* INTO batch FROM action_batches b WHERE b.app_id = p_app_id AND b.batch_id = p_batch_id;
    PERFORM lock_approvals(p_app_id, batch.job);
    SELECT p.* INTO approval FROM action_policy_approvals p
     WHERE p.app_id = p_app_id AND p.job = batch.job ORDER BY p.approval_id DESC LIMIT 1;
    SELECT coalesce(sum(b.approved_rows), 0) INTO approved FROM action_batches b
     WHERE b.app_id = p_app_id AND b.job = batch.job AND b.policy_approval_id = approval.approval_id;
    IF (approval.action = batch.action AND approval.policy_sha256 = batch.policy_sha256 AND approval.withdrawn_at IS NULL
        AND approval.expires_at > clock_timestamp() AND approved + batch.rows_to_send <= approval.maximum_rows
        AND batch.approved_at IS NULL AND batch.approval_required AND batch.rows_to_send > 0
        AND follows_from_policy(p_app_id, p_batch_id, approval.policy)) IS NOT TRUE THEN
        RETURN false;
    END IF;
    UPDATE action_batches b SET policy_approval_id = approval.approval_id, approved_rows = b.rows_to_send, approved_at = clock_timestamp(),
           approval_expires_at = least(approval.expires_at, clock_timestamp() + p_term)
     WHERE b.app_id = p_app_id AND b.batch_id = p_batch_id;
    RETURN true;
END $$;
COMMENT ON FUNCTION approve_by_policy IS
    'Approves a planned batch if the newest approval of its job is of the same policy, is in force and has rows left, and the batch follows from it; returns whether it did.';

-- A withdrawal is recorded once, with the role and the time, and ends the approvals of the job's batches.
CREATE OR REPLACE FUNCTION record_withdrawal() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF OLD.withdrawn_at IS NOT NULL THEN
        RAISE EXCEPTION 'the approval of policy % is already withdrawn', OLD.policy_sha256;
    END IF;
    NEW.withdrawn_at := clock_timestamp();
    NEW.withdrawn_by := session_user;
    PERFORM lock_approvals(NEW.app_id, NEW.job);
    PERFORM end_approvals(NEW.app_id, NEW.job, 'withdrawn');
    RETURN NEW;
END $$;
COMMENT ON FUNCTION record_withdrawal IS 'Records the role and the time of a withdrawal, and ends the approvals of the job''s batches.';

-- It covers what is sent and everything that decides an outcome. Moments are numbers, because their text depends on the session.
CREATE OR REPLACE FUNCTION salted_row_sha256(
    p_salt uuid, p_position bigint, p_verdict text, p_input text[], p_subject text, p_parameters jsonb, p_stake_milliunits bigint, p_currency text,
    p_expires_date_before timestamptz, p_transaction_id_before text, p_send_by timestamptz, p_consistency_token text,
    p_request_reference_id_before text
) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256(convert_to(ROW(p_salt, p_position, p_verdict, p_input, p_subject, p_parameters, p_stake_milliunits, p_currency,
                                 extract(epoch FROM p_expires_date_before), p_transaction_id_before, extract(epoch FROM p_send_by),
                                 p_consistency_token, p_request_reference_id_before)::text, 'UTF8'))
$$;
COMMENT ON FUNCTION salted_row_sha256 IS
    'The SHA-256 of a row of a batch, as in action_rows.salted_sha256; without salt and input, what action_batches.rows_sha256 is made of.';

-- A query without rows does not say why. With this function it does: a campaign can name the limit that it has reached.
CREATE OR REPLACE FUNCTION refuse_input(p_reason text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'SL001', MESSAGE = p_reason;
END $$;
COMMENT ON FUNCTION refuse_input IS 'Ends the plan of a batch with this sentence; for the query of its input.';

-- A member whose claim has ended can get another one. Apple's answer about the subscription has only the claims that are in force.
CREATE OR REPLACE FUNCTION seat_claim_has_ended(claim action_rows) RETURNS boolean LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT claim.state = 'succeeded' AND (
        EXISTS (SELECT FROM unclaimed_seats u
                 WHERE u.app_id = claim.app_id AND u.seat_claim_id = lower(claim.answer ->> 'seatClaimId') AND u.unclaimed_at >= claim.first_sent_at)
        OR EXISTS (SELECT FROM action_rows r JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
                    WHERE r.app_id = claim.app_id AND r.subject = lower(claim.answer ->> 'seatClaimId') AND b.action = 'unclaimSeat' AND r.state = 'succeeded')
        OR EXISTS (SELECT FROM seats s
                    WHERE s.app_id = claim.app_id AND s.original_transaction_id = claim.parameters ->> 'original_transaction_id'
                      AND s.asked_at > claim.ended_at
                      AND NOT EXISTS (SELECT FROM seat_claims c
                                       WHERE c.app_id = s.app_id AND lower(c.seat_claim_id) = lower(claim.answer ->> 'seatClaimId'))))
$$;
COMMENT ON FUNCTION seat_claim_has_ended IS 'Whether the seat that a row of claimSeat has claimed was given or taken back since.';

-- A corrected request keeps the ID of the refused one. It gets a new ID in two cases: a request with the old ID was not refused, or another
-- row of the subject is open. The open row could get the old ID, too.
CREATE OR REPLACE FUNCTION reusable_request_id(p_app_id integer, p_batch_id uuid, p_position bigint, p_subject text, p_action text)
RETURNS uuid LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT r.request_id FROM action_rows r JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
     WHERE r.app_id = p_app_id AND r.subject = p_subject AND b.action = p_action AND r.state = 'rejected' AND r.request_id IS NOT NULL
       AND NOT EXISTS (SELECT FROM action_rows o
                        WHERE o.app_id = r.app_id AND o.subject = r.subject AND o.request_id = r.request_id AND o.state <> 'rejected')
       AND NOT EXISTS (SELECT FROM action_rows o JOIN action_batches x ON x.app_id = o.app_id AND x.batch_id = o.batch_id
                        WHERE o.app_id = r.app_id AND o.subject = r.subject AND x.action = b.action
                          AND o.state IN ('planned', 'approved', 'sending', 'unknown', 'confirming')
                          AND (o.batch_id, o.position) <> (p_batch_id, p_position))
     ORDER BY r.ended_at DESC, r.batch_id LIMIT 1
$$;
COMMENT ON FUNCTION reusable_request_id IS
    'The request ID that a row takes over from the last refused request of its subject; NULL if it needs a new ID.';

-- The lines of a report are written with its batch. Later ones were never approved.
CREATE OR REPLACE FUNCTION refuse_late_input_rows() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF EXISTS (SELECT FROM new_rows n JOIN action_batches b ON b.app_id = n.app_id AND b.batch_id = n.batch_id) THEN
        RAISE EXCEPTION 'the rows of a batch are written with the batch';
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION refuse_late_input_rows IS 'Refuses rows of the input of a batch that exists already.';
CREATE OR REPLACE TRIGGER refuse_late_input_rows AFTER INSERT ON action_input_rows REFERENCING NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_late_input_rows();

CREATE OR REPLACE TRIGGER record_approval BEFORE UPDATE OF approved_at, approved_by, approved_rows, approval_expires_at ON action_batches
    FOR EACH ROW EXECUTE FUNCTION record_approval();
CREATE OR REPLACE TRIGGER record_withdrawal BEFORE UPDATE OF withdrawn_at, withdrawn_by ON action_policy_approvals
    FOR EACH ROW EXECUTE FUNCTION record_withdrawal();

REVOKE EXECUTE ON FUNCTION record_approval, discard_plans, approve_by_policy, record_withdrawal, salted_row_sha256, refuse_input, refuse_late_input_rows FROM PUBLIC;
