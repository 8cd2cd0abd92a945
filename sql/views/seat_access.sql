-- Who has access to a subscription with seats?
--
-- Each seat claim has a row, and each member with a transaction (inAppOwnershipType ASSIGNED or FAMILY_SHARED). Claims are in Apple's newest
-- answer (seat_claims), or claimSeat has made them since. A claim ends with its subscription (seat_subscriptions), with an UNCLAIM_SEATS
-- notification, or with a succeeded unclaimSeat after it was last known. The member of a claim is known only if claimSeat or
-- associateSeat named it, because Apple's answer does not.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW seat_access AS
WITH actions AS (
    SELECT r.app_id, b.action, r.ended_at, r.parameters ->> 'original_transaction_id' AS original_transaction_id,
           lower(coalesce(r.answer ->> 'seatClaimId', r.parameters ->> 'seat_claim_id')) AS seat_claim_id,
           r.parameters ->> 'app_transaction_id' AS app_transaction_id
      FROM action_batches b JOIN action_rows r ON r.app_id = b.app_id AND r.batch_id = b.batch_id
     WHERE b.action IN ('claimSeat', 'unclaimSeat', 'associateSeat') AND r.state = 'succeeded' AND r.parameters IS NOT NULL
), claims AS (
    SELECT c.app_id, c.original_transaction_id, lower(c.seat_claim_id) AS seat_claim_id, s.asked_at AS known_at
      FROM seat_claims c JOIN seats s ON s.app_id = c.app_id AND s.original_transaction_id = c.original_transaction_id
    UNION ALL
    SELECT a.app_id, a.original_transaction_id, a.seat_claim_id, a.ended_at
      FROM actions a LEFT JOIN seats s ON s.app_id = a.app_id AND s.original_transaction_id = a.original_transaction_id
     WHERE a.action = 'claimSeat' AND (s.asked_at IS NULL OR a.ended_at > s.asked_at)
       AND NOT EXISTS (SELECT FROM seat_claims c WHERE c.app_id = a.app_id AND lower(c.seat_claim_id) = a.seat_claim_id)
), ends AS (
    SELECT u.app_id, NULL AS original_transaction_id, u.seat_claim_id, u.unclaimed_at AS ended_at FROM unclaimed_seats u
    UNION ALL
    SELECT a.app_id, a.original_transaction_id, a.seat_claim_id, a.ended_at FROM actions a WHERE a.action = 'unclaimSeat'
), members AS (
    SELECT DISTINCT ON (a.app_id, a.seat_claim_id) a.app_id, a.seat_claim_id, a.app_transaction_id
      FROM actions a
     WHERE a.action IN ('claimSeat', 'associateSeat') AND a.app_transaction_id IS NOT NULL
     ORDER BY a.app_id, a.seat_claim_id, a.ended_at DESC
)
SELECT c.app_id, c.original_transaction_id, m.app_transaction_id, 'seat claim'::text AS known_from, c.seat_claim_id,
       NULL::text AS transaction_id, c.known_at, least(e.ended_at, s.ended_at) AS ended_at,
       e.ended_at IS NULL AND s.ended_at IS NULL AS has_access
  FROM claims c
  LEFT JOIN seat_subscriptions s ON s.app_id = c.app_id AND s.original_transaction_id = c.original_transaction_id
  LEFT JOIN members m ON m.app_id = c.app_id AND m.seat_claim_id = c.seat_claim_id
  LEFT JOIN LATERAL (
      SELECT min(ends.ended_at) AS ended_at FROM ends
       WHERE ends.app_id = c.app_id AND ends.seat_claim_id = c.seat_claim_id AND ends.ended_at >= c.known_at
         AND coalesce(ends.original_transaction_id, c.original_transaction_id) = c.original_transaction_id) e ON true
UNION ALL
SELECT t.app_id, t.original_transaction_id, t.app_transaction_id, 'transaction', NULL, t.transaction_id, t.signed_date,
       least(t.revocation_date, t.expires_date), t.revocation_date IS NULL AND (t.expires_date <= now()) IS NOT TRUE
  FROM (
      SELECT DISTINCT ON (t.app_id, t.original_transaction_id, t.app_transaction_id) t.*
        FROM transactions t
       WHERE t.type = 'Auto-Renewable Subscription' AND t.in_app_ownership_type IN ('ASSIGNED', 'FAMILY_SHARED')
       ORDER BY t.app_id, t.original_transaction_id, t.app_transaction_id, t.expires_date DESC NULLS LAST, t.transaction_id
  ) t;
COMMENT ON VIEW seat_access IS
    'Members of subscriptions with seats or family members: seat claims, and members'' own transactions. The purchaser is not in it. A member of an organization or group who has neither has no access.';
COMMENT ON COLUMN seat_access.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN seat_access.original_transaction_id IS 'The subscription: the ID of its first transaction.';
COMMENT ON COLUMN seat_access.app_transaction_id IS
    'The member''s appTransactionId: of a claim, the one that claimSeat or associateSeat last named; NULL if neither did.';
COMMENT ON COLUMN seat_access.known_from IS 'seat claim or transaction.';
COMMENT ON COLUMN seat_access.seat_claim_id IS 'Apple''s seatClaimId in lower case; NULL for a transaction.';
COMMENT ON COLUMN seat_access.transaction_id IS 'The member''s last transaction; NULL for a seat claim.';
COMMENT ON COLUMN seat_access.known_at IS 'When Apple answered with the claim, or signed the transaction.';
COMMENT ON COLUMN seat_access.ended_at IS
    'When the claim ended: with its subscription, by an UNCLAIM_SEATS notification or by a succeeded unclaimSeat. For a transaction, when it ends or was revoked. NULL for a claim that has a seat.';
COMMENT ON COLUMN seat_access.has_access IS
    'Whether the claim has a seat of an active subscription, or the transaction is neither revoked nor expired. A claim can have access although a smaller renewal has fewer seats: Apple ends claims itself.';
