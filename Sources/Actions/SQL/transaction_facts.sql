-- What the ledger knows of each staged row's transaction.
INSERT INTO stage_action_facts (position, transaction_id, type, purchase_date, expires_date, revocation_date, in_app_ownership_type,
                               price_milliunits, currency, signed_date, extensions)
SELECT s.position, t.transaction_id, t.type, t.purchase_date, t.expires_date, t.revocation_date, t.in_app_ownership_type,
       t.price_milliunits, t.currency, t.signed_date, 0::bigint AS extensions
  FROM stage_action_rows s
  JOIN transactions t ON t.app_id = :app AND t.transaction_id = s.subject
 WHERE s.rule IS NULL
