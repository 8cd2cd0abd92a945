-- How many subscriptions are in each state, by product and storefront?
--
-- One row for each app_id, product_id, storefront, currency, status.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW refresh_status_changes AS
SELECT
    app_id, product_id, storefront, currency, status,
    sum(sign) AS subscriptions,
    sum(sign) FILTER (WHERE is_paid) AS paid,
    sum(sign) FILTER (WHERE is_trial AND NOT is_family_shared) AS trials,
    sum(sign) FILTER (WHERE is_family_shared) AS family_shared,
    sum(sign) FILTER (WHERE will_renew) AS will_renew,
    sum(sign) FILTER (WHERE NOT will_renew) AS will_not_renew,
    sum(sign * mrr_milliunits) FILTER (WHERE status IN ('active', 'grace period')) AS mrr_milliunits,
    sum(sign) FILTER (WHERE is_trial AND NOT is_family_shared AND NOT will_renew) AS trials_will_not_renew,
    sum(sign) FILTER (WHERE is_reported_by_apple) AS reported_by_apple
FROM refresh_changed_subscriptions
GROUP BY app_id, product_id, storefront, currency, status;

CREATE OR REPLACE VIEW subscriptions_by_status AS
SELECT
    app_id, product_id, storefront, currency, status, subscriptions, paid, trials, family_shared, will_renew, will_not_renew,
    mrr_milliunits, trials_will_not_renew,
    mrr_milliunits * 0.001 AS mrr_amount,
    reported_by_apple
FROM refresh_status_totals;
COMMENT ON VIEW subscriptions_by_status IS 'Subscriptions by state as of the last refresh. See current_subscriptions for the meaning of each state.';
COMMENT ON COLUMN subscriptions_by_status.product_id IS 'The product of the last period.';
COMMENT ON COLUMN subscriptions_by_status.status IS 'active, grace period, billing retry, expired, revoked or unknown.';
COMMENT ON COLUMN subscriptions_by_status.subscriptions IS 'Subscriptions in that state.';
COMMENT ON COLUMN subscriptions_by_status.paid IS 'Subscriptions whose last period is paid.';
COMMENT ON COLUMN subscriptions_by_status.trials IS 'Subscriptions whose last period is a free trial, without Family Sharing.';
COMMENT ON COLUMN subscriptions_by_status.family_shared IS 'Subscriptions that another member of the family, an organization or a group paid for.';
COMMENT ON COLUMN subscriptions_by_status.will_renew IS 'Subscriptions with auto-renewal on.';
COMMENT ON COLUMN subscriptions_by_status.will_not_renew IS 'Subscriptions with auto-renewal off. For subscriptions in neither column, auto-renewal is unknown.';
COMMENT ON COLUMN subscriptions_by_status.mrr_milliunits IS 'Monthly recurring revenue of subscriptions that are active or in their grace period, in thousandths of a unit of currency.';
COMMENT ON COLUMN subscriptions_by_status.trials_will_not_renew IS
    'Trials with auto-renewal off. RevenueCat calls them cancelled trials. They run until they expire and are included in trials.';
COMMENT ON COLUMN subscriptions_by_status.reported_by_apple IS
    'Subscriptions whose state is Apple''s own status from Get All Subscription Statuses. The states of the others are derived from signed records.';
