-- How many seats of a subscription are bought, assigned and free?
--
-- One row for each app_id, original_transaction_id. The subscription has seats in force by seat_purchases, or Apple's answer in seats. Several
-- transactions of one period add up. Claims that ended since Apple's answer make seats free, and claims that claimSeat has made since take them.
-- A subscription that has ended (seat_subscriptions) has no seats.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW seats_by_subscription AS
WITH bought AS (
    SELECT p.app_id, p.original_transaction_id, sum(p.seats) AS bought, sum(coalesce(p.revoked_seats, 0)) AS revoked
      FROM seat_purchases p
     WHERE p.purchase_date <= now() AND p.expires_date > now() AND p.revocation_date IS NULL
       AND NOT EXISTS (SELECT FROM transactions t WHERE t.app_id = p.app_id AND t.transaction_id = p.transaction_id AND t.is_upgraded)
     GROUP BY p.app_id, p.original_transaction_id
), assigned AS (
    SELECT a.app_id, a.original_transaction_id, count(*) FILTER (WHERE a.has_access) AS claims
      FROM seat_access a WHERE a.known_from = 'seat claim' GROUP BY a.app_id, a.original_transaction_id
), answered AS (
    SELECT s.app_id, s.original_transaction_id, CASE WHEN e.ended_at IS NULL THEN s.total_seat_count ELSE 0 END AS total_seat_count,
           s.available_seat_count, s.asked_at
      FROM seats s JOIN seat_subscriptions e ON e.app_id = s.app_id AND e.original_transaction_id = s.original_transaction_id
)
SELECT app_id, original_transaction_id, b.bought AS seats_bought, b.revoked AS seats_revoked,
       coalesce(s.total_seat_count, b.bought - b.revoked) AS seats,
       CASE WHEN s.asked_at IS NOT NULL OR a.claims IS NOT NULL THEN coalesce(a.claims, 0) END AS assigned_seats,
       CASE WHEN s.asked_at IS NOT NULL THEN greatest(s.total_seat_count - coalesce(a.claims, 0), 0) END AS free_seats,
       CASE WHEN s.asked_at IS NOT NULL THEN greatest(coalesce(a.claims, 0) - s.total_seat_count, 0) END AS claims_without_seat,
       s.available_seat_count, s.asked_at
  FROM bought b FULL JOIN answered s USING (app_id, original_transaction_id) LEFT JOIN assigned a USING (app_id, original_transaction_id);
COMMENT ON VIEW seats_by_subscription IS
    'Seats of each subscription: bought by transactions in force, assigned to claims, and free.';
COMMENT ON COLUMN seats_by_subscription.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN seats_by_subscription.original_transaction_id IS 'The subscription: the ID of its first transaction.';
COMMENT ON COLUMN seats_by_subscription.seats_bought IS
    'The seats that the transactions in force bought. NULL if the ledger has no such transaction, and for a subscription with one seat.';
COMMENT ON COLUMN seats_by_subscription.seats_revoked IS 'How many of them were refunded while others remain.';
COMMENT ON COLUMN seats_by_subscription.seats IS
    'Apple''s totalSeatCount, or 0 if the subscription has ended; without an answer, the seats that were bought less those revoked.';
COMMENT ON COLUMN seats_by_subscription.assigned_seats IS 'The seat claims with access, in seat_access. NULL if Apple was not asked and claimSeat has claimed none.';
COMMENT ON COLUMN seats_by_subscription.free_seats IS 'The seats without a claim. NULL if Apple was not asked.';
COMMENT ON COLUMN seats_by_subscription.claims_without_seat IS
    'How many claims there are more than seats, after a smaller renewal. NULL if Apple was not asked.';
COMMENT ON COLUMN seats_by_subscription.available_seat_count IS 'Apple''s availableSeatCount at asked_at.';
COMMENT ON COLUMN seats_by_subscription.asked_at IS 'When Apple answered. NULL if Apple was not asked.';
