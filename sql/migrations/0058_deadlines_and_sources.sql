-- Until when may a row be sent, and where did the customers of a run come from?
--
-- The plan of a batch checks that Apple still takes the answer to a refund request. The row can be sent hours later, so it keeps the deadline.
ALTER TABLE action_rows ADD COLUMN send_by timestamptz;
COMMENT ON COLUMN action_rows.send_by IS
    'No request that changes something is sent for the row after this time: the end of the twelve hours in which Apple takes the answer to a refund request. NULL for rows without a deadline.';
UPDATE action_rows r SET send_by = asked.signed_date + interval '12 hours'
  FROM action_batches b
  CROSS JOIN LATERAL (
      SELECT x.position, max(n.signed_date) AS signed_date
        FROM action_rows x
        JOIN notifications n ON n.app_id = x.app_id AND n.transaction_id = x.subject AND n.notification_type = 'CONSUMPTION_REQUEST'
       WHERE x.app_id = b.app_id AND x.batch_id = b.batch_id AND x.verdict = 'valid' AND n.signed_date <= b.planned_at
         AND x.state IN ('planned', 'approved', 'sending', 'confirming', 'unknown')
       GROUP BY x.position
  ) asked
 WHERE b.action = 'sendConsumptionInformation' AND r.app_id = b.app_id AND r.batch_id = b.batch_id AND r.position = asked.position;
COMMENT ON COLUMN action_rows.apple_message IS 'Apple''s errorMessage in the last answer, or why there was no answer, or why the row was not sent.';

-- followed_until says only until when a run with changedSince: lastRun has followed notifications. A run with a date does not follow them, and
-- a run that was stopped has not come so far, but neither has a list.
ALTER TABLE runs ADD COLUMN customers_since timestamptz;
COMMENT ON COLUMN runs.customers_since IS
    'changedSince: the run takes its customers from notifications signed since this time, at the earliest those that Apple keeps. NULL for a run with a list of transaction IDs.';
UPDATE runs r SET customers_since = r.frozen_now - CASE a.environment WHEN 'Sandbox' THEN interval '30 days' ELSE interval '180 days' END
  FROM apps a WHERE a.app_id = r.app_id AND r.followed_until IS NOT NULL;
