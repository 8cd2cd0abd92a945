-- What do the subscriptions that changed add to refresh_active_totals?
CREATE OR REPLACE VIEW refresh_active_changes AS
SELECT p.app_id, p.product_id, (e.at AT TIME ZONE 'UTC')::date AS day, sum(p.sign) AS events,
       sum(p.sign * p.is_paid::integer * e.step) AS paid, sum(p.sign * p.is_trial::integer * e.step) AS trials,
       sum(p.sign) FILTER (WHERE p.is_paid AND e.step = 1) AS started
  FROM refresh_changed_periods p
  -- A period that ends at midnight is active at the end of the previous day.
  CROSS JOIN LATERAL (VALUES (p.starts_at, 1), (p.ends_at, -1)) e (at, step)
 WHERE e.at <= p.as_of AND p.ends_at > p.starts_at AND NOT p.is_family_shared
 GROUP BY p.app_id, p.product_id, (e.at AT TIME ZONE 'UTC')::date;
