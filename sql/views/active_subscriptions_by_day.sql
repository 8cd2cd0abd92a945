-- How many subscriptions were active at the end of each day?
--
-- RevenueCat: unexpired paid subscriptions at the end of the period charted; trials are counted apart.
CREATE MATERIALIZED VIEW IF NOT EXISTS active_subscriptions_by_day AS
WITH change AS (
    SELECT app_id, product_id, (starts_at AT TIME ZONE 'UTC')::date AS day,
           is_paid::integer AS paid, is_trial::integer AS trial, 1 AS sign
      FROM subscription_periods WHERE starts_at <= now() AND ends_at > starts_at AND NOT is_family_shared
    UNION ALL
    -- What ends at midnight is active to the end of the day before.
    SELECT app_id, product_id, (ends_at AT TIME ZONE 'UTC')::date, is_paid::integer, is_trial::integer, -1
      FROM subscription_periods WHERE ends_at <= now() AND ends_at > starts_at AND NOT is_family_shared
), daily AS (
    SELECT app_id, product_id, day, sum(paid * sign) AS paid, sum(trial * sign) AS trials,
           sum(paid) FILTER (WHERE sign = 1) AS started
      FROM change GROUP BY app_id, product_id, day
), calendar AS (
    SELECT f.app_id, f.product_id, d::date AS day
      FROM (SELECT app_id, product_id, min(day) AS first_day FROM daily GROUP BY app_id, product_id) f
      CROSS JOIN LATERAL generate_series(f.first_day::timestamp, now() AT TIME ZONE 'UTC', interval '1 day') d
)
SELECT
    c.app_id, c.product_id, c.day,
    coalesce(sum(d.paid) OVER so_far, 0)::bigint AS active,
    coalesce(sum(d.trials) OVER so_far, 0)::bigint AS trials,
    coalesce(d.started, 0)::bigint AS periods_started
FROM calendar c
LEFT JOIN daily d ON d.app_id = c.app_id AND d.product_id IS NOT DISTINCT FROM c.product_id AND d.day = c.day
WINDOW so_far AS (PARTITION BY c.app_id, c.product_id ORDER BY c.day)
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS active_subscriptions_by_day_key
    ON active_subscriptions_by_day (app_id, day, product_id) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW active_subscriptions_by_day IS
    'Paid subscriptions and trials at the end of every day since the product''s first. Family Sharing is not counted. Today is as of the last refresh.';
COMMENT ON COLUMN active_subscriptions_by_day.day IS 'The day, in UTC.';
COMMENT ON COLUMN active_subscriptions_by_day.active IS 'Paid subscriptions active at the end of the day.';
COMMENT ON COLUMN active_subscriptions_by_day.trials IS 'Free trials running at the end of the day.';
COMMENT ON COLUMN active_subscriptions_by_day.periods_started IS 'Paid periods that began on the day, first ones and renewals.';
