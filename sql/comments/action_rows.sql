COMMENT ON TABLE action_rows IS 'The rows of each batch: what the plan found, whether and when each was sent, and its outcome.';
COMMENT ON COLUMN action_rows.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN action_rows.batch_id IS 'The batch, in action_batches.';
COMMENT ON COLUMN action_rows.position IS 'The position of the row in the input, from 1.';
COMMENT ON COLUMN action_rows.line IS 'The line of the input file in which the row begins; NULL without a file.';
COMMENT ON COLUMN action_rows.input IS
    'The cells of the input as they were read, in the order of action_batches.input_columns. Empty after an erasure.';
COMMENT ON COLUMN action_rows.parameters IS
    'The normalised values that are sent, by column, with the defaults of the job file. NULL for an invalid row and after an erasure.';
COMMENT ON COLUMN action_rows.subject IS
    'The ID of the subscription, transaction or product that the row changes, or the retention message, image or default, such as message/7e3fb20b-4cdb-47cc-936d-99d65f608138; NULL if the action has none, if the row has no valid ID, and after an erasure.';
COMMENT ON COLUMN action_rows.verdict IS
    'What the plan found: valid, invalid, ineligible, duplicate, or same (as a row of an earlier batch).';
COMMENT ON COLUMN action_rows.rule IS 'The rule that sorted the row out: a column for an invalid row, otherwise a rule such as not_active.';
COMMENT ON COLUMN action_rows.reason IS 'The same as a sentence; NULL for a valid row.';
COMMENT ON COLUMN action_rows.state IS
    'planned, approved, sending (a request is under way, or its process was killed), succeeded, rejected (Apple refused it), unknown (Apple may have applied it), confirming (an unknown outcome is being found out), not_applied (Apple''s data shows that it was not applied), skipped (sorted out by the plan), or cancelled.';
COMMENT ON COLUMN action_rows.stake_milliunits IS
    'What the row gives away, in thousandths of a unit of currency, by the ledger''s prices; NULL if nothing or not known.';
COMMENT ON COLUMN action_rows.currency IS 'The currency of stake_milliunits, ISO 4217.';
COMMENT ON COLUMN action_rows.expires_date_before IS 'The subscription''s expiresDate in the ledger when the batch was planned.';
COMMENT ON COLUMN action_rows.transaction_id_before IS 'The subscription''s last transaction in the ledger when the batch was planned.';
COMMENT ON COLUMN action_rows.request_id IS
    'The ID of the request: a version 5 UUID of batch and position, the same for every attempt. NULL before the first.';
COMMENT ON COLUMN action_rows.may_be_applied IS
    'Whether a request of the row was sent whose outcome is not known, so that Apple may have applied it.';
COMMENT ON COLUMN action_rows.attempts IS 'The rows of action_attempts.';
COMMENT ON COLUMN action_rows.http_status IS 'The HTTP status of the last answer.';
COMMENT ON COLUMN action_rows.apple_code IS 'Apple''s errorCode in the last answer; NULL if it had none.';
COMMENT ON COLUMN action_rows.apple_message IS
    'Apple''s errorMessage in the last answer, or why there was no answer, or why the row was not sent.';
COMMENT ON COLUMN action_rows.answer IS 'Members of Apple''s answer that are kept, such as effectiveDate in UNIX milliseconds; of a retention message that was not sent yet, what Apple said of it in the plan.';
COMMENT ON COLUMN action_rows.confirmed_by IS
    'What in Apple''s data showed the outcome of a row whose answer was lost; NULL if the answer itself was the outcome. The view actions_confirmed shows what crawls have brought since.';
COMMENT ON COLUMN action_rows.first_sent_at IS 'When the first request was recorded that can have been sent, just before it left; NULL while none can have been: a request that did not leave, and one that Apple answered with 429 or 401, does not count.';
COMMENT ON COLUMN action_rows.last_sent_at IS 'When the last attempt was recorded.';
COMMENT ON COLUMN action_rows.ended_at IS 'When the outcome was recorded, or an unknown one stayed unknown at Apple''s deadline; NULL before.';
COMMENT ON COLUMN action_rows.claimable_at IS
    'When a process can take the row: the end of its lease, or the time to which it is postponed. NULL for a row with an outcome, and for one that is not approved.';
COMMENT ON COLUMN action_rows.lease_owner IS 'The random number of the process that works on the row; NULL if none does.';
COMMENT ON COLUMN action_rows.lease_epoch IS 'Increases with every lease. An outcome with an older epoch changes nothing.';
COMMENT ON COLUMN action_rows.consistency_token IS
    'The consistencyToken of the newest renewal info when the batch was planned, which is sent with an Advanced Commerce request; NULL if the ledger had none.';
COMMENT ON COLUMN action_rows.request_reference_id_before IS
    'The requestReferenceId of the last Advanced Commerce request that the ledger knew when the batch was planned; NULL if it knew none.';
COMMENT ON COLUMN action_rows.send_by IS
    'No request that changes something is sent for the row after this time: the end of the twelve hours in which Apple takes the answer to a refund request. NULL for rows without a deadline.';
COMMENT ON COLUMN action_rows.salt IS
    'A random number in salted_sha256; NULL after an erasure, and for a row of a batch that an earlier version has planned and finished.';
COMMENT ON COLUMN action_rows.salted_sha256 IS
    'SHA-256 of salt, position, verdict, input, subject, parameters, stake, deadline and evidence of the row when it was planned; stays after an erasure, and then says nothing of the customer. NULL for a row of a batch that an earlier version has planned and finished.';
