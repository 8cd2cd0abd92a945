-- What the ledger knows of each staged row's subscription, and the first rule of seats that the row breaks: refusal.
--
-- The subject of such a row is a member or a seat claim, so the subscription is in the parameters. The ledger must have the claim under this
-- subscription. Otherwise a wrong ID would look like a success: after a lost answer, a claim that Get Seat Info does not have counts as given
-- back. The free seats are the ones in Apple's newest answer, less the claims that were sent since, and the seats that were given back since.
-- The rows of the batch take them in order; a duplicate, or a row that an earlier batch has sent, takes none.
WITH staged AS (
    SELECT s.position, s.subject, s.parameters, s.parameters ->> 'original_transaction_id' AS id,
           s.subject IS NULL OR row_number() OVER (PARTITION BY s.subject ORDER BY s.position) = 1 AS is_first
      FROM stage_action_rows s
     WHERE s.rule IS NULL
), known AS (
    SELECT s.*, t.transaction_id, t.type, t.purchase_date, t.expires_date, t.revocation_date, t.in_app_ownership_type, t.price_milliunits,
           t.currency, t.signed_date, t.offer_discount_type, t.invitation_management,
           s.is_first AND NOT EXISTS (
               SELECT FROM action_rows r JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
                WHERE r.app_id = :app::integer AND r.subject = s.subject AND b.job = :job::text AND b.action = :action::text
                  AND r.verdict = 'valid' AND (r.state = 'succeeded' OR r.may_be_applied) AND r.parameters = s.parameters
                  AND NOT seat_claim_has_ended(r)) AS takes_seat
      FROM staged s
      JOIN LATERAL (
          SELECT * FROM transactions t
           WHERE t.app_id = :app AND t.original_transaction_id = s.id
           -- Seats that were added and refunded leave the others.
           ORDER BY t.revocation_date IS NOT NULL, t.expires_date DESC NULLS LAST, t.purchase_date DESC, t.transaction_id LIMIT 1
      ) t ON true
), free AS (
    SELECT a.original_transaction_id AS id, a.asked_at,
           a.available_seat_count - coalesce(sum(CASE c.action WHEN 'claimSeat' THEN 1 WHEN 'unclaimSeat' THEN -1 END), 0) AS seats
      FROM seats a
      LEFT JOIN LATERAL (
          SELECT b.action FROM action_rows r JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
           WHERE r.app_id = a.app_id AND r.parameters ->> 'original_transaction_id' = a.original_transaction_id
             AND r.subject IS DISTINCT FROM r.parameters ->> 'original_transaction_id'
             AND (r.state = 'succeeded' OR b.action = 'claimSeat' AND r.may_be_applied) AND r.last_sent_at > a.asked_at
      ) c ON true
     WHERE a.app_id = :app AND :needs_free_seat::boolean AND a.original_transaction_id IN (SELECT id FROM staged)
     GROUP BY a.app_id, a.original_transaction_id, a.asked_at, a.available_seat_count
), claims AS (
    -- Apple's newest answers, and what was claimed since.
    SELECT claim, array_agg(id) AS ids
      FROM (SELECT lower(c.seat_claim_id) AS claim, c.original_transaction_id AS id
              FROM seat_claims c
             WHERE c.app_id = :app AND c.seat_claim_id IN (SELECT subject FROM staged UNION ALL SELECT upper(subject) FROM staged)
            UNION ALL
            SELECT lower(r.answer ->> 'seatClaimId'), r.parameters ->> 'original_transaction_id'
              FROM action_rows r JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
             WHERE r.app_id = :app AND b.action = 'claimSeat' AND r.state = 'succeeded'
               AND lower(r.answer ->> 'seatClaimId') IN (SELECT subject FROM staged)) c
     WHERE :needs_claim::boolean
     GROUP BY claim
), counted AS (
    SELECT k.*, f.seats, f.asked_at, count(*) FILTER (WHERE k.takes_seat) OVER (PARTITION BY k.id ORDER BY k.position) AS number
      FROM known k LEFT JOIN free f ON f.id = k.id
)
INSERT INTO stage_action_facts (position, transaction_id, type, purchase_date, expires_date, revocation_date, in_app_ownership_type,
                               price_milliunits, currency, signed_date, offer_discount_type, extensions, refusal)
SELECT c.position, c.transaction_id, c.type, c.purchase_date, c.expires_date, c.revocation_date, c.in_app_ownership_type,
       c.price_milliunits, c.currency, c.signed_date, c.offer_discount_type, 0,
       CASE WHEN c.invitation_management IS DISTINCT FROM 'DEVELOPER'
                THEN ARRAY['not_developer_managed', format('invitationManagement is %s, and it must be DEVELOPER', coalesce(c.invitation_management, 'missing'))]
            -- check_rows.sql says that the subscription has expired.
            WHEN (c.expires_date > now()) IS NOT TRUE THEN NULL
            WHEN :needs_claim AND k.ids IS NULL
                THEN ARRAY['unknown_claim', format('the ledger has no seat claim %s; crawl seats of %s first', c.subject, c.id)]
            WHEN :needs_claim AND c.id <> ALL (k.ids)
                THEN ARRAY['other_subscription', format('seat claim %s is of subscription %s', c.subject, k.ids[1])]
            WHEN c.takes_seat AND c.number > c.seats
                THEN ARRAY['no_free_seat', format('seat %s of the batch for the subscription, and %s are free by Apple''s answer of %s and the requests since; crawl seats again after a change',
                                                  c.number, greatest(c.seats, 0), to_char(c.asked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'))]
       END
  FROM counted c LEFT JOIN claims k ON k.claim = c.subject
