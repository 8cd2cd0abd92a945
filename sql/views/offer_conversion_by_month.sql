-- How many free trials and other offers were followed by a payment?
--
-- The definition is RevenueCat's: a trial is converted when a paid transaction follows in the same subscription; the cohort
-- is the day the trial began. Other offers are converted by a payment without that offer. A later refund of the payment
-- does not undo the conversion.
--
-- One row for each app_id, month, product_id, storefront, offer, offer_type, offer_discount_type, offer_identifier.
-- Readers: loader, exporter, actor, analyst.

-- One row for each app_id, month, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier.
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

CREATE OR REPLACE VIEW offer_conversion_by_month AS
SELECT
    app_id, month, product_id, storefront,
    CASE WHEN is_trial THEN 'free trial' ELSE coalesce(
        CASE offer_type WHEN 1 THEN 'introductory' WHEN 2 THEN 'promotional' WHEN 3 THEN 'offer code' WHEN 4 THEN 'win-back' END,
        'type ' || offer_type) END AS offer,
    offer_type, offer_discount_type, offer_identifier,
    started, converted, running, lost,
    round(converted::numeric / started, 4) AS conversion_rate
FROM refresh_offer_conversion_totals;
COMMENT ON VIEW offer_conversion_by_month IS
    'Free trials and other offers by the month in which they began, and the number that were followed by a payment. Only customers who took an offer are known: Apple''s data do not show customers who saw an offer and declined it.';
COMMENT ON COLUMN offer_conversion_by_month.month IS 'The month in which the offer''s first period began; its first day, in UTC.';
COMMENT ON COLUMN offer_conversion_by_month.offer IS 'The kind of offer: free trial (of any offer type), introductory, promotional, offer code, win-back.';
COMMENT ON COLUMN offer_conversion_by_month.started IS 'Subscriptions that began the offer. Each subscription counts once, also if the offer lasts several periods.';
COMMENT ON COLUMN offer_conversion_by_month.converted IS 'Subscriptions whose offer was followed by a paid period without the offer.';
COMMENT ON COLUMN offer_conversion_by_month.running IS 'Subscriptions that are not converted while the offer still runs.';
COMMENT ON COLUMN offer_conversion_by_month.lost IS 'Subscriptions whose offer ended without a later payment.';
COMMENT ON COLUMN offer_conversion_by_month.conversion_rate IS 'converted divided by started, 0 to 1. started contains running, so the rate can still grow while offers run; converted divided by (started - running) is the rate of finished offers. To combine rows, divide the sums.';
