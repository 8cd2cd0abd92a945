-- How many free trials began on each day, and what was their outcome?
--
-- The definition is RevenueCat's: a new trial counts on the day it starts, and is converted when a paid transaction follows
-- in the same subscription. Free periods of one subscription without a payment between them are one trial. A trial whose
-- first payment fails is lost until Apple recovers the payment.
CREATE MATERIALIZED VIEW IF NOT EXISTS trials_by_day AS
WITH stretch AS (
    -- Only subscriptions with a trial, because the window functions sort every row.
    SELECT p.*, count(*) FILTER (WHERE is_paid) OVER so_far AS payments_before, count(*) FILTER (WHERE is_paid) OVER whole AS payments
      FROM subscription_periods_at_refresh p
     WHERE (app_id, original_transaction_id) IN (SELECT app_id, original_transaction_id FROM subscription_periods_at_refresh
                                                  WHERE is_trial AND NOT is_family_shared)
    WINDOW so_far AS (PARTITION BY app_id, original_transaction_id ORDER BY period_number),
           whole AS (PARTITION BY app_id, original_transaction_id)
), trial AS (
    SELECT app_id, original_transaction_id, payments > payments_before AS is_converted,
           min(starts_at) AS starts_at, max(starts_at) AS last_starts_at, max(ends_at) AS ends_at,
           (array_agg(product_id ORDER BY period_number))[1] AS product_id,
           (array_agg(storefront ORDER BY period_number))[1] AS storefront
      FROM stretch
     WHERE is_trial AND NOT is_family_shared AND starts_at <= now()
     GROUP BY app_id, original_transaction_id, payments_before, payments
)
SELECT
    t.app_id, (t.starts_at AT TIME ZONE 'UTC')::date AS day, t.product_id, t.storefront,
    count(*) AS started,
    count(*) FILTER (WHERE t.is_converted) AS converted,
    count(*) FILTER (WHERE NOT t.is_converted AND t.ends_at > now()) AS running,
    count(*) FILTER (WHERE NOT t.is_converted AND t.ends_at > now() AND r.auto_renew_status = 0) AS will_not_renew,
    count(*) FILTER (WHERE NOT t.is_converted AND coalesce(t.ends_at <= now(), true)) AS lost,
    round(count(*) FILTER (WHERE t.is_converted)::numeric / count(*), 4) AS conversion_rate
FROM trial t
LEFT JOIN renewals_signed r ON r.app_id = t.app_id AND r.original_transaction_id = t.original_transaction_id
     AND r.last_signed_date >= t.last_starts_at
GROUP BY t.app_id, (t.starts_at AT TIME ZONE 'UTC')::date, t.product_id, t.storefront
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS trials_by_day_key ON trials_by_day (app_id, day, product_id, storefront) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW trials_by_day IS
    'Free trials by the day they began, product and storefront, and their outcome so far: started = converted + running + lost. Days without a new trial have no row. Family Sharing is not counted. As of the last refresh.';
COMMENT ON COLUMN trials_by_day.day IS 'The day the trial began, in UTC.';
COMMENT ON COLUMN trials_by_day.product_id IS 'The product of the trial.';
COMMENT ON COLUMN trials_by_day.started IS 'Free trials that began on the day.';
COMMENT ON COLUMN trials_by_day.converted IS 'Those of started that were followed by a payment, whenever that was. A later refund does not undo the conversion.';
COMMENT ON COLUMN trials_by_day.running IS 'Those of started that still run.';
COMMENT ON COLUMN trials_by_day.will_not_renew IS 'Those of running with auto-renewal off: RevenueCat''s cancelled trials.';
COMMENT ON COLUMN trials_by_day.lost IS 'Those of started that ended without a payment so far. A trial without an expiresDate counts here.';
COMMENT ON COLUMN trials_by_day.conversion_rate IS 'converted divided by started, 0 to 1. It can still grow while trials run. To combine rows, divide the sums.';
