-- What the ledger knows of each staged row's subscription: its last period, and how often Apple has extended it.
--
-- An extension that Apple confirmed counts before the crawl brings its notification. Then the transaction in the ledger still has the
-- earlier expiresDate, so expires_date_before is the date in Apple's answer, and NULL if it is not known: a date that is not the last
-- one would prove another extension than the row's.
INSERT INTO stage_action_facts (position, transaction_id, type, purchase_date, expires_date, revocation_date, in_app_ownership_type,
                               price_milliunits, currency, signed_date, offer_discount_type, has_advanced_commerce, expires_date_before,
                               extensions)
SELECT s.position, t.transaction_id, t.type, t.purchase_date, t.expires_date, t.revocation_date, t.in_app_ownership_type,
       t.price_milliunits, t.currency, t.signed_date, t.offer_discount_type, t.payload ? 'advancedCommerceInfo',
       CASE WHEN e.later IS NULL THEN t.expires_date
            WHEN e.is_known THEN greatest(t.expires_date, timestamptz 'epoch' + e.effective_date * interval '1 millisecond') END,
       greatest(
           (SELECT count(*) FROM notifications n
             WHERE n.app_id = t.app_id AND n.original_transaction_id = s.subject AND n.notification_type = 'RENEWAL_EXTENDED'
               AND n.signed_date > now() - interval '365 days'),
           e.extensions
       )
  FROM stage_action_rows s
  CROSS JOIN LATERAL (
      SELECT * FROM transactions t
       WHERE t.app_id = :app AND t.original_transaction_id = s.subject
       ORDER BY t.expires_date DESC NULLS LAST, t.purchase_date DESC, t.transaction_id LIMIT 1
  ) t
  CROSS JOIN LATERAL (
      SELECT count(*) AS extensions, max(c.effective_date) AS effective_date,
             bool_or(true) FILTER (WHERE c.is_later) AS later,
             bool_and(c.effective_date IS NOT NULL) FILTER (WHERE c.is_later) AS is_known
        FROM (SELECT greatest((r.answer ->> 'effectiveDate')::bigint, (r.answer ->> 'expiresDate')::bigint) AS effective_date,
                     -- A request whose outcome is not known can be applied some time after it was sent.
                     coalesce(r.ended_at, r.last_sent_at + interval '1 hour') > t.signed_date AS is_later
                FROM action_rows r JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
               WHERE r.app_id = t.app_id AND r.subject = s.subject AND b.action = :action
                 AND (r.state = 'succeeded' OR r.may_be_applied) AND r.first_sent_at > now() - interval '365 days'
                 -- Asked once, and not for each of a million rows.
                 AND EXISTS (SELECT FROM action_batches x WHERE x.app_id = :app AND x.action = :action AND x.started_at IS NOT NULL)) c
  ) e
 WHERE s.rule IS NULL
