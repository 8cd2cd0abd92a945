-- How many free trials began on each day, and what was their outcome?
--
-- The definition is RevenueCat's: a new trial counts on the day it starts, and is converted when a paid transaction follows
-- in the same subscription, before another trial begins. Free periods of one subscription are one trial only if each begins when
-- the one before ends. A trial whose first payment fails is lost until Apple recovers the payment.
--
-- One row for each app_id, day, product_id, storefront.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW refresh_trial_changes AS
WITH free AS (
    SELECT *, count(*) FILTER (WHERE is_first) OVER (PARTITION BY sign, app_id, original_transaction_id ORDER BY period_number) AS trial_number
      FROM (SELECT *, (lag(is_trial) OVER subscription AND lag(ends_at) OVER subscription >= starts_at) IS NOT TRUE AS is_first
              FROM refresh_changed_subscription_periods
             WHERE NOT is_family_shared
            WINDOW subscription AS (PARTITION BY sign, app_id, original_transaction_id ORDER BY period_number)) period
     WHERE is_trial AND starts_at <= as_of
), trial AS (
    SELECT sign, as_of, app_id,
           -- Paid before the next trial, or at all if this one is the last.
           coalesce(lead(min(payments_so_far)) OVER (PARTITION BY sign, app_id, original_transaction_id ORDER BY trial_number) > max(payments_so_far),
                    bool_or(is_paid_later)) AS is_converted,
           min(starts_at) AS starts_at, max(ends_at) AS ends_at,
           (array_agg(product_id ORDER BY period_number))[1] AS product_id,
           (array_agg(storefront ORDER BY period_number))[1] AS storefront,
           -- A period has auto_renew_status only if the renewal info was signed after the period began. If the last free period has it, the others
           -- have the same one.
           (array_agg(auto_renew_status ORDER BY starts_at DESC))[1] AS auto_renew_status
      FROM free
     GROUP BY sign, as_of, app_id, original_transaction_id, trial_number
)
SELECT
    app_id, (starts_at AT TIME ZONE 'UTC')::date AS day, product_id, storefront,
    sum(sign) AS started,
    sum(sign) FILTER (WHERE is_converted) AS converted,
    sum(sign) FILTER (WHERE NOT is_converted AND ends_at > as_of) AS running,
    sum(sign) FILTER (WHERE NOT is_converted AND ends_at > as_of AND auto_renew_status = 0) AS will_not_renew,
    sum(sign) FILTER (WHERE NOT is_converted AND coalesce(ends_at <= as_of, true)) AS lost
FROM trial
GROUP BY app_id, (starts_at AT TIME ZONE 'UTC')::date, product_id, storefront;

CREATE OR REPLACE VIEW trials_by_day AS
SELECT
    app_id, day, product_id, storefront, started, converted, running, will_not_renew, lost,
    round(converted::numeric / started, 4) AS conversion_rate
FROM refresh_trial_totals;
COMMENT ON VIEW trials_by_day IS
    'Free trials by the day they began, product and storefront, and their outcome so far: started = converted + running + lost. Days without a new trial have no row. Family Sharing is not counted. As of the last refresh.';
COMMENT ON COLUMN trials_by_day.day IS 'The day the trial began, in UTC.';
COMMENT ON COLUMN trials_by_day.product_id IS 'The product of the trial.';
COMMENT ON COLUMN trials_by_day.started IS 'Free trials that began on the day.';
COMMENT ON COLUMN trials_by_day.converted IS 'Trials that were followed by a payment, whenever that was, before another trial of the subscription. A later refund does not undo the conversion.';
COMMENT ON COLUMN trials_by_day.running IS 'Trials that still run.';
COMMENT ON COLUMN trials_by_day.will_not_renew IS 'Running trials with auto-renewal off. RevenueCat calls them cancelled trials.';
COMMENT ON COLUMN trials_by_day.lost IS 'Trials that have ended without a payment so far. A trial without an expiresDate counts here.';
COMMENT ON COLUMN trials_by_day.conversion_rate IS 'converted divided by started, 0 to 1. It can still grow while trials run. To combine rows, divide the sums.';
