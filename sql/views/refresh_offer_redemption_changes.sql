-- What do the subscriptions that changed add to refresh_offer_redemption_totals?
CREATE OR REPLACE VIEW refresh_offer_redemption_changes AS
SELECT
    app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date AS month, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier,
    sum(sign) AS redemptions
FROM (
    SELECT *,
           -- The offer of the period before, if that has one.
           lag((is_trial OR offer_type IS NOT NULL)
               AND next_starts_at IS NOT NULL) OVER subscription AS is_before_offer,
           lag(is_trial) OVER subscription AS before_is_trial, lag(offer_type) OVER subscription AS before_offer_type,
           lag(offer_identifier) OVER subscription AS before_offer_identifier,
           lag(offer_discount_type) OVER subscription AS before_offer_discount_type
      FROM refresh_changed_periods
    WINDOW subscription AS (PARTITION BY sign, app_id, original_transaction_id ORDER BY period_number)
) p
WHERE NOT is_family_shared AND (is_trial OR offer_type IS NOT NULL)
  AND NOT (coalesce(is_before_offer, false)
           AND (before_is_trial, before_offer_type, before_offer_identifier, before_offer_discount_type)
               IS NOT DISTINCT FROM (is_trial, offer_type, offer_identifier, offer_discount_type))
GROUP BY app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier;
