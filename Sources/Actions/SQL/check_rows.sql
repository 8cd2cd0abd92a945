-- Writes the rows of a batch with the verdict of the plan.
--
-- The order of the verdicts is: invalid, duplicate, same, ineligible. A row is a duplicate if an earlier row that is not invalid
-- has the same subject. It is the same if the last row of the job for this subject that can have been sent has the same values. A row that
-- Apple refused does not count. Neither does a row that was not sent, because the approval of this batch cancels it. A refund request that
-- another batch has answered or still can answer is ineligible. So is one that a policy does not answer, and a row of an erased customer.
-- A row that comes with a verdict keeps it. advanced_commerce_facts.sql and seat_facts.sql have checked further rules; refusal has
-- the first one that is broken.
WITH numbered AS (
    SELECT s.*, coalesce(s.parameters ->> 'original_transaction_id', s.subject) AS shown_id, CASE WHEN s.rule IS NULL AND s.subject IS NOT NULL
                     THEN min(s.position) FILTER (WHERE s.rule IS NULL) OVER (PARTITION BY s.subject) END AS first_position
      FROM stage_action_rows s
), judged AS (
    SELECT n.*, f.transaction_id AS last_transaction_id, f.expires_date, f.expires_date_before, f.purchase_date, f.price_milliunits, f.currency, f.request_date,
           f.consistency_token, f.request_reference_id, gen_random_uuid() AS salt,
           CASE WHEN n.given_verdict IS NOT NULL THEN ARRAY[n.given_verdict, n.rule, n.reason]
                WHEN n.rule IN ('answer_none', 'erased') THEN ARRAY['ineligible', n.rule, n.reason]
                WHEN n.rule IS NOT NULL THEN ARRAY['invalid', n.rule, n.reason]
                WHEN n.first_position < n.position
                    THEN ARRAY['duplicate', 'duplicate', format('row %s has the same %s', n.first_position, :subject_column::text)]
                WHEN earlier.parameters = n.parameters
                    THEN ARRAY['same', 'same_as_batch', format('same as batch %s', earlier.rows_sha256)]
                WHEN other.rows_sha256 IS NOT NULL THEN
                    ARRAY['ineligible', 'answered', format('batch %s has the answer to the request', other.rows_sha256)]
                WHEN 'not_in_ledger' = ANY (:rules::text[]) AND f.position IS NULL THEN
                    ARRAY['ineligible'] || coalesce(
                        (SELECT ARRAY['other_app', format('%s belongs to %s (%s)', n.shown_id, a.bundle_id, a.environment)]
                           FROM apps a
                          WHERE a.app_id <> :app
                            AND EXISTS (SELECT FROM transactions o WHERE o.app_id = a.app_id AND o.original_transaction_id = n.shown_id
                                        UNION ALL
                                        SELECT FROM transactions o WHERE o.app_id = a.app_id AND o.transaction_id = n.shown_id)
                          ORDER BY a.app_id LIMIT 1),
                        ARRAY['not_in_ledger', format('the ledger has no record of %s; run a crawl of it first', n.shown_id)])
                WHEN 'not_a_subscription' = ANY (:rules) AND f.type IS DISTINCT FROM 'Auto-Renewable Subscription'
                    THEN ARRAY['ineligible', 'not_a_subscription', format('%s is not a subscription that renews', n.shown_id)]
                WHEN 'revoked' = ANY (:rules) AND f.revocation_date IS NOT NULL
                    THEN ARRAY['ineligible', 'revoked', format('revoked at %s', to_char(f.revocation_date AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'))]
                WHEN 'not_purchased' = ANY (:rules) AND f.in_app_ownership_type IS DISTINCT FROM 'PURCHASED'
                    THEN ARRAY['ineligible', 'not_purchased', format('inAppOwnershipType is %s', coalesce(f.in_app_ownership_type, 'missing'))]
                WHEN f.refusal IS NOT NULL THEN ARRAY['ineligible'] || f.refusal
                WHEN 'not_active' = ANY (:rules) AND (f.expires_date > now()) IS NOT TRUE
                    THEN ARRAY['ineligible', 'not_active', format('expired at %s, by a record that Apple signed at %s',
                                                                  coalesce(to_char(f.expires_date AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'), 'an unknown time'),
                                                                  to_char(f.signed_date AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'))]
                WHEN 'free_offer' = ANY (:rules) AND f.offer_discount_type = 'FREE_TRIAL'
                    THEN ARRAY['ineligible', 'free_offer', 'the subscription is in a free trial']
                WHEN 'no_open_request' = ANY (:rules) AND f.request_date IS NULL
                    THEN ARRAY['ineligible', 'no_request', 'the ledger has no CONSUMPTION_REQUEST for it']
                WHEN 'no_open_request' = ANY (:rules) AND f.request_date <= now() - interval '12 hours'
                    THEN ARRAY['ineligible', 'too_late', format('Apple asked at %s, more than 12 hours ago',
                                                                to_char(f.request_date AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI "UTC"'))]
                WHEN 'consumption_version' = ANY (:rules) AND f.has_advanced_commerce AND NOT n.parameters ? 'consumption_status'
                    THEN ARRAY['ineligible', 'advanced_commerce', 'the purchase has Advanced Commerce, so it needs the columns of version 1']
                WHEN 'consumption_version' = ANY (:rules) AND NOT f.has_advanced_commerce AND n.parameters ? 'consumption_status'
                    THEN ARRAY['ineligible', 'not_advanced_commerce', 'the purchase has no Advanced Commerce, so it needs the columns of version 2']
                WHEN 'percentage_of_subscription' = ANY (:rules) AND f.type = 'Auto-Renewable Subscription' AND n.parameters ? 'consumption_percentage'
                    THEN ARRAY['ineligible', 'percentage_of_subscription', 'Apple takes no consumption_percentage for a subscription that renews']
                WHEN 'prorated_without_percentage' = ANY (:rules) AND f.type <> 'Auto-Renewable Subscription'
                     AND n.parameters ->> 'refund_preference' = 'GRANT_PRORATED' AND NOT n.parameters ? 'consumption_percentage'
                    THEN ARRAY['ineligible', 'prorated_without_percentage',
                               'GRANT_PRORATED needs a consumption_percentage, above 0 and below 100000, except for a subscription that renews']
                WHEN 'unsupported_type' = ANY (:rules) AND n.parameters ? 'consumption_status'
                     AND f.type NOT IN ('Consumable', 'Auto-Renewable Subscription')
                    THEN ARRAY['ineligible', 'unsupported_type',
                               format('version 1 is for consumables and subscriptions that renew, and the type is %s (InvalidTransactionTypeNotSupportedError, 4000047)', f.type)]
                WHEN 'two_extensions' = ANY (:rules) AND f.extensions >= 2
                    THEN ARRAY['ineligible', 'two_extensions', format('extended %s times within 365 days', f.extensions)]
                ELSE ARRAY['valid', NULL, NULL] END AS verdict
      FROM numbered n
      LEFT JOIN stage_action_facts f ON f.position = n.position
      LEFT JOIN LATERAL (
          SELECT r.parameters, b.rows_sha256
            FROM action_rows r JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
           WHERE r.app_id = :app AND r.subject = n.subject AND b.job = :job AND b.action = :action AND r.verdict = 'valid'
             AND (r.state = 'succeeded' OR r.may_be_applied) AND NOT (:action = 'claimSeat' AND seat_claim_has_ended(r))
             -- Asked once, and not for each of a million rows.
             AND EXISTS (SELECT FROM action_batches x WHERE x.app_id = :app AND x.job = :job AND x.action = :action)
             -- An answer to an earlier request of Apple's does not answer the newest one.
             AND (r.first_sent_at < f.request_date) IS NOT TRUE
           ORDER BY b.planned_at DESC LIMIT 1
      ) earlier ON n.rule IS NULL
      LEFT JOIN LATERAL (
          SELECT b.rows_sha256 FROM action_rows r JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
           WHERE 'no_open_request' = ANY (:rules) AND r.app_id = :app AND r.subject = n.subject AND r.send_by IS NOT NULL
             AND ((r.state = 'succeeded' OR r.may_be_applied) AND r.first_sent_at >= f.request_date
                  OR r.ended_at IS NULL AND r.send_by > clock_timestamp() AND r.state IN ('approved', 'sending', 'confirming', 'unknown')
                     AND (r.may_be_applied OR b.job <> :job AND approval_is_in_force(b)))
           ORDER BY b.planned_at DESC LIMIT 1
      ) other ON n.rule IS NULL
)
INSERT INTO action_rows (app_id, batch_id, position, line, input, parameters, subject, verdict, rule, reason, state,
                         stake_milliunits, currency, expires_date_before, transaction_id_before, send_by,
                         consistency_token, request_reference_id_before, salt, salted_sha256, answer)
SELECT :app, :batch, j.position, j.line, j.input, j.parameters, j.subject, j.verdict[1], j.verdict[2], j.verdict[3],
       CASE j.verdict[1] WHEN 'valid' THEN 'planned' ELSE 'skipped' END,
       j.stake, j.stake_currency, j.expires_date_before, j.last_transaction_id, j.send_by,
       j.consistency_token, j.request_reference_id, j.salt,
       salted_row_sha256(j.salt, j.position, j.verdict[1], j.input, j.subject, j.parameters, j.stake, j.stake_currency, j.expires_date_before,
                         j.last_transaction_id, j.send_by, j.consistency_token, j.request_reference_id), j.answer
  FROM (
      SELECT j.*,
             CASE :stake::text
                 WHEN 'extended_days' THEN round(j.price_milliunits * (j.parameters ->> 'extend_by_days')::numeric * 86400
                                                 / nullif(extract(epoch FROM j.expires_date - j.purchase_date), 0))
                 WHEN 'price' THEN j.price_milliunits END::bigint AS stake,
             CASE WHEN :stake <> '' THEN j.currency END AS stake_currency,
             CASE WHEN 'no_open_request' = ANY (:rules) THEN j.request_date + interval '12 hours' END AS send_by
        FROM judged j
  ) j
 ORDER BY j.position
