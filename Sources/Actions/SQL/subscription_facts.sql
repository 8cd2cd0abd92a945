-- What the ledger knows of each staged row's subscription: its last period, and how often Apple has extended it.
--
-- An extension that Apple confirmed counts before the crawl brings its notification.
INSERT INTO stage_action_facts (position, transaction_id, type, purchase_date, expires_date, revocation_date, in_app_ownership_type,
                               price_milliunits, currency, signed_date, offer_discount_type, has_advanced_commerce, extensions)
SELECT s.position, t.transaction_id, t.type, t.purchase_date, t.expires_date, t.revocation_date, t.in_app_ownership_type,
       t.price_milliunits, t.currency, t.signed_date, t.offer_discount_type, t.payload ? 'advancedCommerceInfo',
       greatest(
           (SELECT count(*) FROM notifications n
             WHERE n.app_id = t.app_id AND n.original_transaction_id = s.subject AND n.notification_type = 'RENEWAL_EXTENDED'
               AND n.signed_date > now() - interval '365 days'),
           (SELECT count(*) FROM action_rows r JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
             WHERE r.app_id = t.app_id AND r.subject = s.subject AND b.action = :action
               AND (r.state = 'succeeded' OR r.may_be_applied) AND r.first_sent_at > now() - interval '365 days')
       ) AS extensions
  FROM stage_action_rows s
  CROSS JOIN LATERAL (
      SELECT * FROM transactions t
       WHERE t.app_id = :app AND t.original_transaction_id = s.subject
       ORDER BY t.expires_date DESC NULLS LAST, t.purchase_date DESC, t.transaction_id LIMIT 1
  ) t
 WHERE s.rule IS NULL
