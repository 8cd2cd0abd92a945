-- What does new_subscriptions_by_day show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of new_subscriptions_by_day.
CREATE OR REPLACE VIEW refresh_new_subscriptions_by_day_from_scratch AS
SELECT
    app_id, (starts_at AT TIME ZONE 'UTC')::date AS day, product_id, storefront,
    count(*) AS new,
    count(*) FILTER (WHERE is_after_trial) AS trial_conversions,
    count(*) FILTER (WHERE NOT is_after_trial AND offer_type IS NOT DISTINCT FROM 1) AS introductory,
    count(*) FILTER (WHERE NOT is_after_trial AND offer_type IS DISTINCT FROM 1) AS direct,
    count(*) FILTER (WHERE NOT is_after_trial AND offer_type > 1) AS direct_with_offer
FROM subscription_periods_at_refresh
WHERE payment_number = 1 AND ends_at IS NOT NULL AND starts_at <= now()
GROUP BY app_id, (starts_at AT TIME ZONE 'UTC')::date, product_id, storefront;
