-- Whether the ledger has transactions of each staged row's product.
INSERT INTO stage_action_facts (position, transaction_id, type, in_app_ownership_type, extensions)
SELECT s.position, t.transaction_id, t.type, t.in_app_ownership_type, 0
  FROM stage_action_rows s
  CROSS JOIN LATERAL (
      SELECT t.transaction_id, t.type, t.in_app_ownership_type FROM transactions t
       WHERE t.app_id = :app AND t.product_id = s.subject ORDER BY t.product_id LIMIT 1
  ) t
 WHERE s.rule IS NULL
