-- What does offer_conversion_by_month show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of offer_conversion_by_month.
CREATE OR REPLACE VIEW refresh_offer_conversion_by_month_from_scratch AS
WITH offer AS (
    SELECT app_id, original_transaction_id, is_trial, offer_type, offer_identifier, offer_discount_type,
           min(period_number) AS first_of_offer, max(ends_at) AS offer_ends_at
      FROM subscription_periods_at_refresh
     WHERE NOT is_family_shared AND (is_trial OR offer_type IS NOT NULL)
     GROUP BY app_id, original_transaction_id, is_trial, offer_type, offer_identifier, offer_discount_type
), started AS (
    SELECT
        o.app_id, o.is_trial, o.offer_type, o.offer_identifier, o.offer_discount_type, o.offer_ends_at,
        max(p.product_id) FILTER (WHERE p.period_number = o.first_of_offer) AS product_id,
        max(p.storefront) FILTER (WHERE p.period_number = o.first_of_offer) AS storefront,
        max(p.starts_at) FILTER (WHERE p.period_number = o.first_of_offer) AS starts_at,
        min(p.starts_at) FILTER (
            WHERE p.is_paid AND (p.is_trial, p.offer_type, p.offer_identifier, p.offer_discount_type)
                  IS DISTINCT FROM (o.is_trial, o.offer_type, o.offer_identifier, o.offer_discount_type)) AS paid_at
    FROM offer o
    JOIN subscription_periods_at_refresh p
      ON p.app_id = o.app_id AND p.original_transaction_id = o.original_transaction_id AND p.period_number >= o.first_of_offer
    GROUP BY o.app_id, o.original_transaction_id, o.first_of_offer, o.is_trial, o.offer_type, o.offer_identifier,
             o.offer_discount_type, o.offer_ends_at
)
SELECT
    app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date AS month, product_id, storefront,
    CASE WHEN is_trial THEN 'free trial' ELSE coalesce(
        CASE offer_type WHEN 1 THEN 'introductory' WHEN 2 THEN 'promotional' WHEN 3 THEN 'offer code' WHEN 4 THEN 'win-back' END,
        'type ' || offer_type) END AS offer,
    offer_type, offer_discount_type, offer_identifier,
    count(*) AS started,
    count(paid_at) AS converted,
    count(*) FILTER (WHERE paid_at IS NULL AND offer_ends_at > now()) AS running,
    count(*) FILTER (WHERE paid_at IS NULL AND (offer_ends_at <= now() OR offer_ends_at IS NULL)) AS lost,
    round(count(paid_at)::numeric / count(*), 4) AS conversion_rate
FROM started
GROUP BY app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, is_trial, offer_type,
         offer_discount_type, offer_identifier;
