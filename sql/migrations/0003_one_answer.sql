-- A refund request is in one batch whose answer can be sent, or can have been.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS action_rows_one_answer ON action_rows (app_id, subject)
    WHERE send_by IS NOT NULL AND ended_at IS NULL AND state IN ('approved', 'sending', 'confirming', 'unknown');
