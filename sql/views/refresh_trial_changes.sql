-- What do the subscriptions that changed add to refresh_trial_totals?
--
-- A trial is the same as in trials_by_day: a run of free periods, each of which begins when the one before ends.
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
           -- Renewal info that is newer than the last free period is newer than the others.
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
