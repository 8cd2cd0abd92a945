-- How many subscriptions were active at the end of each day?
--
-- The definition is RevenueCat's: unexpired paid subscriptions at the end of the period charted. Trials are counted
-- separately. A period without an expiresDate is active on no day, because its end is unknown.
--
-- One row for each app_id, day, product_id.
-- Readers: loader, exporter, actor, analyst.

-- One row for each app_id, product_id, day.
CREATE OR REPLACE VIEW refresh_active_changes AS
SELECT p.app_id, p.product_id, (e.at AT TIME ZONE 'UTC')::date AS day, sum(p.sign) AS events,
       sum(p.sign * p.is_paid::integer * e.step) AS paid, sum(p.sign * p.is_trial::integer * e.step) AS trials,
       sum(p.sign) FILTER (WHERE p.is_paid AND e.step = 1) AS started
  FROM refresh_changed_periods p
  -- A period that ends at midnight is active at the end of the previous day.
  CROSS JOIN LATERAL (VALUES (p.starts_at, 1), (p.ends_at, -1)) e (at, step)
 WHERE e.at <= p.as_of AND p.ends_at > p.starts_at AND NOT p.is_family_shared
 GROUP BY p.app_id, p.product_id, (e.at AT TIME ZONE 'UTC')::date;

CREATE OR REPLACE VIEW active_subscriptions_by_day AS
WITH daily AS (
    SELECT app_id, product_id, day, sum(paid) AS paid, sum(trials) AS trials, sum(started) AS started
      -- A day without changes gets a row of zeros. A join instead would compare every day with all days of all products,
      -- because product_id can be NULL.
      FROM (SELECT app_id, product_id, day, paid, trials, started FROM refresh_active_totals
            UNION ALL
            SELECT f.app_id, f.product_id, d::date, 0, 0, 0
              FROM (SELECT app_id, product_id, min(day) AS first_day FROM refresh_active_totals GROUP BY app_id, product_id) f
              CROSS JOIN refresh_state state
              CROSS JOIN LATERAL generate_series(f.first_day::timestamp, state.as_of AT TIME ZONE 'UTC', interval '1 day') d) every_day
     GROUP BY app_id, product_id, day
)
SELECT
    app_id, product_id, day,
    (sum(paid) OVER so_far)::bigint AS active,
    (sum(trials) OVER so_far)::bigint AS trials,
    started::bigint AS periods_started
FROM daily
WINDOW so_far AS (PARTITION BY app_id, product_id ORDER BY day);
COMMENT ON VIEW active_subscriptions_by_day IS
    'Paid subscriptions and trials at the end of each day, from the product''s first day on. Family Sharing and periods without an expiresDate are not counted. Today''s row is as of the last refresh.';
COMMENT ON COLUMN active_subscriptions_by_day.day IS 'The day, in UTC.';
COMMENT ON COLUMN active_subscriptions_by_day.active IS 'Paid subscriptions active at the end of the day.';
COMMENT ON COLUMN active_subscriptions_by_day.trials IS 'Free trials running at the end of the day.';
COMMENT ON COLUMN active_subscriptions_by_day.periods_started IS 'Paid periods that began on the day: first periods and renewals.';
