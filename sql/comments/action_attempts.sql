COMMENT ON TABLE action_attempts IS 'Every request of each row, recorded before it was sent, and Apple''s answer.';
COMMENT ON COLUMN action_attempts.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN action_attempts.batch_id IS 'The batch, in action_batches.';
COMMENT ON COLUMN action_attempts.position IS 'The row, in action_rows.';
COMMENT ON COLUMN action_attempts.attempt IS 'The number of the attempt, from 1.';
COMMENT ON COLUMN action_attempts.purpose IS
    'send: the first request, also after Apple said that it has no earlier one. repeat: the same request after a lost answer. read back: a request that only reads. status: the state of a request that Apple works on for longer.';
COMMENT ON COLUMN action_attempts.sent_at IS 'When the attempt was recorded, just before the request was sent.';
COMMENT ON COLUMN action_attempts.ended_at IS 'When the answer or the failure was recorded; NULL if the process was killed before that.';
COMMENT ON COLUMN action_attempts.request_sha256 IS
    'SHA-256 of method, path and body. The body follows from action_rows.parameters and request_id.';
COMMENT ON COLUMN action_attempts.http_status IS 'The HTTP status; NULL without an answer.';
COMMENT ON COLUMN action_attempts.apple_code IS 'Apple''s errorCode; NULL if the answer has none.';
COMMENT ON COLUMN action_attempts.message IS 'Apple''s errorMessage, or why there was no answer.';
COMMENT ON COLUMN action_attempts.answer_sha256 IS 'SHA-256 of the body of the answer.';
COMMENT ON COLUMN action_attempts.answer IS 'The body of the answer, at most 64 KiB. NULL without an answer and after an erasure.';
