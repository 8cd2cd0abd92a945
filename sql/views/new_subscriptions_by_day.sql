-- How many subscriptions were paid for the first time on each day, and what kind of purchase was it?
--
-- The definition is RevenueCat's: new paid subscriptions are those first paid in the period, by the way they were created.
-- Each new subscription of subscription_movement_by_day counts once: as a trial conversion after a free trial of the same
-- subscription, as introductory if its first payment has an introductory offer, otherwise as direct.
--
-- One row for each app_id, day, product_id, storefront.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW refresh_new_subscription_changes AS
SELECT
    app_id, (starts_at AT TIME ZONE 'UTC')::date AS day, product_id, storefront,
    sum(sign) AS new,
    sum(sign) FILTER (WHERE is_after_trial) AS trial_conversions,
    sum(sign) FILTER (WHERE NOT is_after_trial AND offer_type IS NOT DISTINCT FROM 1) AS introductory,
    sum(sign) FILTER (WHERE NOT is_after_trial AND offer_type IS DISTINCT FROM 1) AS direct,
    sum(sign) FILTER (WHERE NOT is_after_trial AND offer_type > 1) AS direct_with_offer
FROM refresh_changed_periods
WHERE payment_number = 1 AND ends_at IS NOT NULL AND starts_at <= as_of
GROUP BY app_id, (starts_at AT TIME ZONE 'UTC')::date, product_id, storefront;

CREATE OR REPLACE VIEW new_subscriptions_by_day AS
SELECT app_id, day, product_id, storefront, new, trial_conversions, introductory, direct, direct_with_offer
FROM refresh_new_subscription_totals;
COMMENT ON VIEW new_subscriptions_by_day IS
    'Subscriptions that were paid for the first time, by day, product and storefront: new = trial_conversions + introductory + direct. Days without a new subscription have no row. Family Sharing and periods without an expiresDate are not counted. Today''s row is as of the last refresh.';
COMMENT ON COLUMN new_subscriptions_by_day.day IS 'The day of the first payment, in UTC.';
COMMENT ON COLUMN new_subscriptions_by_day.product_id IS 'The product of the first payment.';
COMMENT ON COLUMN new_subscriptions_by_day.new IS 'Subscriptions that were paid for the first time, as in subscription_movement_by_day.';
COMMENT ON COLUMN new_subscriptions_by_day.trial_conversions IS 'New subscriptions that had a free trial before.';
COMMENT ON COLUMN new_subscriptions_by_day.introductory IS 'New subscriptions without a trial whose first payment has an introductory offer.';
COMMENT ON COLUMN new_subscriptions_by_day.direct IS 'All other new subscriptions: bought at full price or with another offer.';
COMMENT ON COLUMN new_subscriptions_by_day.direct_with_offer IS 'Subscriptions counted in direct that have a promotional offer, an offer code or a win-back offer.';
