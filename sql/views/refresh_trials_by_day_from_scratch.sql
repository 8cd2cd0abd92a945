-- What does trials_by_day show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of trials_by_day.
CREATE OR REPLACE VIEW refresh_trials_by_day_from_scratch AS
WITH stretch AS (
    -- Only subscriptions with a trial, because the window functions sort every row.
    SELECT p.*, count(*) FILTER (WHERE is_paid) OVER so_far AS payments_before, count(*) FILTER (WHERE is_paid) OVER whole AS payments,
           (lag(is_trial) OVER so_far AND lag(ends_at) OVER so_far >= starts_at) IS NOT TRUE AS is_first
      FROM subscription_periods_at_refresh p
     WHERE NOT is_family_shared
       AND (app_id, original_transaction_id) IN (SELECT app_id, original_transaction_id FROM subscription_periods_at_refresh
                                                  WHERE is_trial AND NOT is_family_shared)
    WINDOW so_far AS (PARTITION BY app_id, original_transaction_id ORDER BY period_number),
           whole AS (PARTITION BY app_id, original_transaction_id)
), free AS (
    SELECT *, count(*) FILTER (WHERE is_first) OVER (PARTITION BY app_id, original_transaction_id ORDER BY period_number) AS trial_number
      FROM stretch
     WHERE is_trial AND starts_at <= now()
), trial AS (
    SELECT app_id, original_transaction_id,
           coalesce(lead(min(payments_before)) OVER (PARTITION BY app_id, original_transaction_id ORDER BY trial_number), payments)
               > max(payments_before) AS is_converted,
           min(starts_at) AS starts_at, max(starts_at) AS last_starts_at, max(ends_at) AS ends_at,
           (array_agg(product_id ORDER BY period_number))[1] AS product_id,
           (array_agg(storefront ORDER BY period_number))[1] AS storefront
      FROM free
     GROUP BY app_id, original_transaction_id, trial_number, payments
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
GROUP BY t.app_id, (t.starts_at AT TIME ZONE 'UTC')::date, t.product_id, t.storefront;
