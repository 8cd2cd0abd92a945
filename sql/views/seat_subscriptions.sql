-- Which subscriptions with seats have ended?
--
-- Seats exist only while the subscription is active. It ends with its last period: at expiresDate, at the end of the billing grace
-- period, or when all transactions of the period are revoked. Transactions of members, and those that an upgrade ended, do not count.
-- Renewal info counts only if Apple signed it after the last period began.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW seat_subscriptions AS
SELECT k.app_id, k.original_transaction_id, CASE WHEN ends.at <= now() THEN ends.at END AS ended_at
  FROM (
      SELECT s.app_id, s.original_transaction_id FROM seats s
      UNION
      SELECT r.app_id, r.parameters ->> 'original_transaction_id'
        FROM action_batches b JOIN action_rows r ON r.app_id = b.app_id AND r.batch_id = b.batch_id
       WHERE b.action = 'claimSeat' AND r.state = 'succeeded' AND r.parameters IS NOT NULL
  ) k
  LEFT JOIN LATERAL (
      SELECT max(least(t.expires_date, t.revocation_date)) AS last_end, max(t.purchase_date) AS starts_at,
             max(t.expires_date) FILTER (WHERE t.revocation_date IS NULL) AS last_expiry
        FROM transactions t
       WHERE t.app_id = k.app_id AND t.original_transaction_id = k.original_transaction_id
         AND t.type = 'Auto-Renewable Subscription' AND t.is_upgraded IS NOT TRUE
         AND t.in_app_ownership_type IS DISTINCT FROM 'FAMILY_SHARED' AND t.in_app_ownership_type IS DISTINCT FROM 'ASSIGNED'
  ) t ON true
  LEFT JOIN renewals_signed r ON r.app_id = k.app_id AND r.original_transaction_id = k.original_transaction_id
  CROSS JOIN LATERAL (
      -- A period that was revoked has no grace period.
      SELECT CASE WHEN t.last_expiry = t.last_end AND r.last_signed_date >= t.starts_at AND r.grace_period_expires_date > t.last_end
                  THEN r.grace_period_expires_date ELSE t.last_end END AS at
  ) ends;
COMMENT ON VIEW seat_subscriptions IS
    'The subscriptions with a seat claim, or with an answer of Apple''s about seats, and when they ended. For use by other views.';
COMMENT ON COLUMN seat_subscriptions.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN seat_subscriptions.original_transaction_id IS 'The subscription: the ID of its first transaction.';
COMMENT ON COLUMN seat_subscriptions.ended_at IS
    'When the subscription expired, after a billing grace period if it has one, or was revoked. NULL while it is active, or if the ledger has no transaction of it.';
