-- What do the subscriptions that changed add to refresh_offer_conversion_totals?
CREATE OR REPLACE VIEW refresh_offer_conversion_changes AS
WITH offer AS (
    SELECT sign, as_of, app_id, original_transaction_id, is_trial, offer_type, offer_identifier, offer_discount_type,
           min(period_number) AS first_of_offer, max(ends_at) AS offer_ends_at
      FROM refresh_changed_subscription_periods
     WHERE NOT is_family_shared AND (is_trial OR offer_type IS NOT NULL)
     GROUP BY sign, as_of, app_id, original_transaction_id, is_trial, offer_type, offer_identifier, offer_discount_type
), started AS (
    SELECT
        o.sign, o.as_of, o.app_id, o.is_trial, o.offer_type, o.offer_identifier, o.offer_discount_type, o.offer_ends_at,
        max(p.product_id) FILTER (WHERE p.period_number = o.first_of_offer) AS product_id,
        max(p.storefront) FILTER (WHERE p.period_number = o.first_of_offer) AS storefront,
        max(p.starts_at) FILTER (WHERE p.period_number = o.first_of_offer) AS starts_at,
        min(p.starts_at) FILTER (
            WHERE p.is_paid AND (p.is_trial, p.offer_type, p.offer_identifier, p.offer_discount_type)
                  IS DISTINCT FROM (o.is_trial, o.offer_type, o.offer_identifier, o.offer_discount_type)) AS paid_at
    FROM offer o
    JOIN refresh_changed_subscription_periods p
      ON p.sign = o.sign AND p.app_id = o.app_id AND p.original_transaction_id = o.original_transaction_id AND p.period_number >= o.first_of_offer
    GROUP BY o.sign, o.as_of, o.app_id, o.original_transaction_id, o.first_of_offer, o.is_trial, o.offer_type, o.offer_identifier,
             o.offer_discount_type, o.offer_ends_at
)
SELECT
    app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date AS month, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier,
    sum(sign) AS started,
    sum(sign) FILTER (WHERE paid_at IS NOT NULL) AS converted,
    sum(sign) FILTER (WHERE paid_at IS NULL AND offer_ends_at > as_of) AS running,
    sum(sign) FILTER (WHERE paid_at IS NULL AND (offer_ends_at <= as_of OR offer_ends_at IS NULL)) AS lost
FROM started
GROUP BY app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier;
