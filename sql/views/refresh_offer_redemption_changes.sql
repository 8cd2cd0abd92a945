-- What do the subscriptions that changed add to refresh_offer_redemption_totals?
CREATE OR REPLACE VIEW refresh_offer_redemption_changes AS
SELECT
    app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date AS month, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier,
    sum(sign) AS redemptions
FROM refresh_changed_periods
WHERE NOT is_family_shared AND (is_trial OR offer_type IS NOT NULL) AND NOT is_same_offer
GROUP BY app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier;
