-- What the ledger knows of each staged row's transaction, and when Apple last asked for its consumption information.
INSERT INTO stage_action_facts (position, transaction_id, type, purchase_date, expires_date, revocation_date, in_app_ownership_type,
                               price_milliunits, currency, signed_date, offer_discount_type, has_advanced_commerce, request_date, extensions)
SELECT s.position, t.transaction_id, t.type, t.purchase_date, t.expires_date, t.revocation_date, t.in_app_ownership_type,
       t.price_milliunits, t.currency, t.signed_date, t.offer_discount_type, t.payload ? 'advancedCommerceInfo',
       (SELECT max(n.signed_date) FROM notifications n
         WHERE n.app_id = t.app_id AND n.transaction_id = s.subject AND n.notification_type = 'CONSUMPTION_REQUEST'), 0
  FROM stage_action_rows s
  JOIN transactions t ON t.app_id = :app AND t.transaction_id = s.subject
 WHERE s.rule IS NULL
