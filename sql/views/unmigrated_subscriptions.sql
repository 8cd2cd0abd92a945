-- Which active subscriptions were not migrated to Advanced Commerce, and why?
--
-- One row for each app_id, original_transaction_id. Only of apps for which a migration (migrateSubscription) was planned. A subscription
-- is migrated when its last transaction or its newest renewal info has Advanced Commerce. What a family member shares is left out: it
-- follows the purchase.
--
-- The first condition is computed once. Without a planned migration PostgreSQL reads no subscription.
--
-- The reason is from the subscription's row in the last plan that has it; a row that only repeats another one does not count:
--   never planned                    no plan has had the subscription
--   subscribed since the last plan   the same, because it began later
--   sorted out                       a rule of the plan; rule names it
--   waiting                          the row was not sent yet
--   rejected                         Apple refused the request; apple_code says why
--   outcome unknown                  the request was sent, and its outcome is not known, or not yet
--   not applied                      the request was sent, and Apple's data shows that it was not applied
--   cancelled                        the row was not sent, because the job was removed
--   not crawled since                Apple migrated it; a crawl will show that
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW unmigrated_subscriptions AS
SELECT
    c.app_id, c.original_transaction_id, c.product_id,
    CASE WHEN last.verdict IS NULL AND c.subscribed_at > plans.planned_at THEN 'subscribed since the last plan'
         WHEN last.verdict IS NULL THEN 'never planned'
         WHEN last.verdict <> 'valid' THEN 'sorted out'
         WHEN last.state IN ('planned', 'approved') THEN 'waiting'
         WHEN last.state IN ('sending', 'unknown', 'confirming') THEN 'outcome unknown'
         WHEN last.state = 'succeeded' THEN 'not crawled since'
         WHEN last.state = 'not_applied' THEN 'not applied'
         ELSE last.state END AS reason,
    last.rule, CASE WHEN last.state = 'rejected' THEN last.apple_code END AS apple_code,
    last.job, last.batch, last.position, last.planned_at, c.subscribed_at, c.ends_at, c.will_renew, c.storefront, c.customer_key
FROM current_subscriptions c
JOIN (SELECT app_id, max(planned_at) AS planned_at FROM action_batches WHERE action = 'migrateSubscription' GROUP BY app_id) plans
     ON plans.app_id = c.app_id
JOIN transactions t ON t.app_id = c.app_id AND t.transaction_id = c.transaction_id
LEFT JOIN renewals r ON r.app_id = c.app_id AND r.original_transaction_id = c.original_transaction_id
LEFT JOIN LATERAL (
    SELECT x.verdict, x.state, x.rule, x.apple_code, x.position, b.job, b.rows_sha256 AS batch, b.planned_at
      FROM action_rows x JOIN action_batches b ON b.app_id = x.app_id AND b.batch_id = x.batch_id
     WHERE x.app_id = c.app_id AND x.subject = c.original_transaction_id AND b.action = 'migrateSubscription'
       AND x.verdict NOT IN ('duplicate', 'same')
     ORDER BY b.planned_at DESC, x.position LIMIT 1
) last ON true
WHERE (SELECT EXISTS (SELECT FROM action_batches WHERE action = 'migrateSubscription'))
  AND c.status = 'active' AND NOT c.is_family_shared
  AND t.advanced_commerce_request_reference_id IS NULL AND r.advanced_commerce_request_reference_id IS NULL;
COMMENT ON VIEW unmigrated_subscriptions IS
    'The active subscriptions of apps with a planned migration that were not migrated to Advanced Commerce, as far as the ledger knows, each with the reason.';
COMMENT ON COLUMN unmigrated_subscriptions.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN unmigrated_subscriptions.original_transaction_id IS 'Apple''s originalTransactionId: identifies the subscription.';
COMMENT ON COLUMN unmigrated_subscriptions.product_id IS 'The product of the last transaction.';
COMMENT ON COLUMN unmigrated_subscriptions.reason IS
    'never planned, subscribed since the last plan, sorted out, waiting, rejected, outcome unknown, not applied, cancelled, or not crawled since.';
COMMENT ON COLUMN unmigrated_subscriptions.rule IS 'The rule of the plan that sorted the subscription out, such as pending_change; otherwise NULL.';
COMMENT ON COLUMN unmigrated_subscriptions.apple_code IS 'Apple''s error code for a subscription that Apple refused to migrate; otherwise NULL.';
COMMENT ON COLUMN unmigrated_subscriptions.job IS 'The name of the job whose plan had the subscription last; NULL if no plan had it.';
COMMENT ON COLUMN unmigrated_subscriptions.batch IS 'The hash of that batch: action_batches.rows_sha256.';
COMMENT ON COLUMN unmigrated_subscriptions.position IS 'The position of the row in that batch.';
COMMENT ON COLUMN unmigrated_subscriptions.planned_at IS 'When that batch was planned.';
COMMENT ON COLUMN unmigrated_subscriptions.subscribed_at IS 'When the subscription was first bought.';
COMMENT ON COLUMN unmigrated_subscriptions.ends_at IS 'When the current period ends.';
COMMENT ON COLUMN unmigrated_subscriptions.will_renew IS 'Whether automatic renewal is on, by the newest renewal info; NULL if it is not known.';
COMMENT ON COLUMN unmigrated_subscriptions.storefront IS 'Apple''s code of the country in which it was bought.';
COMMENT ON COLUMN unmigrated_subscriptions.customer_key IS 'Identifies the customer: the same as in purchases.';
