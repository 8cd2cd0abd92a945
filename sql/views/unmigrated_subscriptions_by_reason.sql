-- How many active subscriptions were not migrated to Advanced Commerce, by product and reason?
--
-- One row for each app_id, product_id, reason, rule, apple_code. unmigrated_subscriptions lists them.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW unmigrated_subscriptions_by_reason AS
SELECT
    app_id, product_id, reason, rule, apple_code, count(*) AS subscriptions, count(*) FILTER (WHERE will_renew) AS will_renew,
    max(planned_at) AS last_planned_at
FROM unmigrated_subscriptions
GROUP BY app_id, product_id, reason, rule, apple_code;
COMMENT ON VIEW unmigrated_subscriptions_by_reason IS
    'What remains of a migration to Advanced Commerce: the active subscriptions in unmigrated_subscriptions, counted by product and reason.';
COMMENT ON COLUMN unmigrated_subscriptions_by_reason.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN unmigrated_subscriptions_by_reason.product_id IS 'The product of the last transaction.';
COMMENT ON COLUMN unmigrated_subscriptions_by_reason.reason IS 'Why the subscriptions were not migrated; see unmigrated_subscriptions.';
COMMENT ON COLUMN unmigrated_subscriptions_by_reason.rule IS 'The rule of the plan that sorted them out; otherwise NULL.';
COMMENT ON COLUMN unmigrated_subscriptions_by_reason.apple_code IS 'Apple''s error code with which it refused to migrate them; otherwise NULL.';
COMMENT ON COLUMN unmigrated_subscriptions_by_reason.subscriptions IS 'The number of subscriptions.';
COMMENT ON COLUMN unmigrated_subscriptions_by_reason.will_renew IS 'Of these, the subscriptions whose automatic renewal is on, by the newest renewal info.';
COMMENT ON COLUMN unmigrated_subscriptions_by_reason.last_planned_at IS 'When a plan last had one of them; NULL if none had.';
