-- What do the subscriptions that changed add to refresh_new_subscription_totals?
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
