-- What does NULL mean where Apple sends a field only with some values?
--
-- This file changes comments only. Sources: isUpgraded, App Store Server API, "This value appears in the transaction only when it's true";
-- purchaseDate and isInBillingRetryPeriod, read 2026-11. The comments of masked views are the same, and an analyst cannot read
-- latest_signatures.
COMMENT ON COLUMN transactions.is_upgraded IS
    'Apple''s isUpgraded: true if the customer upgraded to another subscription of the group. Apple sends it only if it is true, so it is true or NULL, never false: filter by IS NOT TRUE.';
COMMENT ON COLUMN renewals.is_in_billing_retry_period IS
    'Apple''s isInBillingRetryPeriod: whether Apple is still trying to charge the customer. NULL if Apple sends none, as for most active subscriptions: filter by IS NOT TRUE. current_subscriptions has the state.';
COMMENT ON COLUMN transactions.purchase_date IS
    'Apple''s purchaseDate: when the customer was charged, or when a free trial or another free purchase began.';
COMMENT ON COLUMN refunds.purchase_date IS
    'Apple''s purchaseDate: when the customer was charged, or when a free trial or another free purchase began.';
COMMENT ON COLUMN runs.exit_code IS
    'Exit code of the process that last worked on the run: 0 complete, 2 complete but something is missing or rejected, 75 stopped with work left; docs/reference/exit-codes.md has all. NULL until one has ended in order.';
COMMENT ON COLUMN transactions.signed_date IS
    'When Apple first signed this content of the transaction. A later signature of the same content does not change it.';
COMMENT ON COLUMN refunds.signed_date IS
    'When Apple first signed this content of the transaction. A later signature of the same content does not change it.';
COMMENT ON COLUMN renewals.signed_date IS
    'When Apple first signed this content of the renewal info. A later signature of the same content does not change it.';
COMMENT ON COLUMN app_transactions.signed_date IS
    'When Apple first signed this content of the app transaction. A later signature of the same content does not change it.';
