-- What does active_subscriptions_by_day show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of active_subscriptions_by_day.
CREATE OR REPLACE VIEW refresh_active_subscriptions_by_day_from_scratch AS
WITH change AS (
    -- A period that ends at midnight is active at the end of the previous day.
    SELECT p.app_id, p.product_id, (c.at AT TIME ZONE 'UTC')::date AS day,
           sum(p.is_paid::integer * c.sign) AS paid, sum(p.is_trial::integer * c.sign) AS trials,
           count(*) FILTER (WHERE p.is_paid AND c.sign = 1) AS started
      FROM subscription_periods_at_refresh p
      CROSS JOIN LATERAL (VALUES (p.starts_at, 1), (p.ends_at, -1)) c (at, sign)
     WHERE c.at <= now() AND p.ends_at > p.starts_at AND NOT p.is_family_shared
     GROUP BY p.app_id, p.product_id, (c.at AT TIME ZONE 'UTC')::date
), calendar AS (
    SELECT f.app_id, f.product_id, d::date AS day
      FROM (SELECT app_id, product_id, min(day) AS first_day FROM change GROUP BY app_id, product_id) f
      CROSS JOIN LATERAL generate_series(f.first_day::timestamp, now() AT TIME ZONE 'UTC', interval '1 day') d
), daily AS (
    SELECT app_id, product_id, day, sum(paid) AS paid, sum(trials) AS trials, sum(started) AS started
      -- A day without changes gets a row of zeros. A join instead would compare every day with all days of all
      -- products, because product_id can be NULL.
      FROM (SELECT * FROM change UNION ALL SELECT app_id, product_id, day, 0, 0, 0 FROM calendar) every_day
     GROUP BY app_id, product_id, day
)
SELECT
    app_id, product_id, day,
    (sum(paid) OVER so_far)::bigint AS active,
    (sum(trials) OVER so_far)::bigint AS trials,
    started::bigint AS periods_started
FROM daily
WINDOW so_far AS (PARTITION BY app_id, product_id ORDER BY day);
