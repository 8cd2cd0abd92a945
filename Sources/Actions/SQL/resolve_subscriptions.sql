-- Names the subscription of each staged row by its original transaction ID, so that two transactions of one are duplicates.
--
-- An ID that the ledger does not know stays as it is.
UPDATE stage_action_rows s SET subject = t.original_transaction_id
  FROM transactions t
 WHERE t.app_id = :app AND t.transaction_id = s.subject AND t.original_transaction_id <> s.subject
