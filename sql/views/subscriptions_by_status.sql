-- How many subscriptions are active, in trouble or gone, by product and storefront?
CREATE MATERIALIZED VIEW IF NOT EXISTS subscriptions_by_status AS
SELECT
    app_id, product_id, storefront, currency, status,
    count(*) AS subscriptions,
    count(*) FILTER (WHERE is_paid) AS paid,
    count(*) FILTER (WHERE is_trial AND NOT is_family_shared) AS trials,
    count(*) FILTER (WHERE is_family_shared) AS family_shared,
    count(*) FILTER (WHERE will_renew) AS will_renew,
    count(*) FILTER (WHERE NOT will_renew) AS will_not_renew,
    coalesce(sum(mrr_milliunits) FILTER (WHERE status IN ('active', 'grace period')), 0)::bigint AS mrr_milliunits,
    count(*) FILTER (WHERE is_trial AND NOT is_family_shared AND NOT will_renew) AS trials_will_not_renew,
    coalesce(sum(mrr_milliunits) FILTER (WHERE status IN ('active', 'grace period')), 0) * 0.001 AS mrr_amount,
    count(*) FILTER (WHERE is_reported_by_apple) AS reported_by_apple
FROM current_subscriptions_at_refresh
GROUP BY app_id, product_id, storefront, currency, status
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS subscriptions_by_status_key
    ON subscriptions_by_status (app_id, product_id, storefront, currency, status) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW subscriptions_by_status IS 'Subscriptions by their state as of the last refresh; see current_subscriptions for what each state means.';
COMMENT ON COLUMN subscriptions_by_status.product_id IS 'The product of the last period.';
COMMENT ON COLUMN subscriptions_by_status.status IS 'active, grace period, billing retry, expired, revoked or unknown.';
COMMENT ON COLUMN subscriptions_by_status.subscriptions IS 'Subscriptions in that state.';
COMMENT ON COLUMN subscriptions_by_status.paid IS 'How many of them were paid for in their last period.';
COMMENT ON COLUMN subscriptions_by_status.trials IS 'How many are free trials.';
COMMENT ON COLUMN subscriptions_by_status.family_shared IS 'How many somebody else of the family paid for.';
COMMENT ON COLUMN subscriptions_by_status.will_renew IS 'How many have renewal switched on.';
COMMENT ON COLUMN subscriptions_by_status.will_not_renew IS 'How many have renewal switched off; of the rest Apple has not told.';
COMMENT ON COLUMN subscriptions_by_status.mrr_milliunits IS 'Monthly recurring revenue of those that are active or in their grace period, in thousandths of a unit of currency.';
COMMENT ON COLUMN subscriptions_by_status.trials_will_not_renew IS
    'How many of trials have renewal switched off: RevenueCat''s cancelled trials. They run until they expire, and count in trials.';
COMMENT ON COLUMN subscriptions_by_status.reported_by_apple IS
    'How many of them are in that state by Apple''s own status from Get All Subscription Statuses; of the rest the state is worked out from signed records.';
