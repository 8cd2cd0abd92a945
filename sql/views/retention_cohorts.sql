-- How many of the subscriptions first paid without an introductory offer in a month are active k months later, including those that came back?
--
-- A subscription's cohort is the month and product of its first paid period without an introductory offer, as in
-- RevenueCat. RevenueCat counts renewals; this view counts calendar months. A subscription is retained in month k if it is
-- active at the end of the k-th month after the first. Only completed months are shown, so every subscription of a cohort
-- had that opportunity.
--
-- One row for each app_id, cohort_month, product_id, period, month_number.
-- Readers: loader, exporter, actor, analyst.

-- Activity that began before the cohort month counts in the cohort month.
-- One row for each app_id, cohort_month, product_id, period, month.
CREATE OR REPLACE VIEW refresh_cohort_changes AS
WITH first AS (
    SELECT DISTINCT ON (sign, app_id, original_transaction_id)
           sign, app_id, original_transaction_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date AS cohort_month, product_id, period
      FROM refresh_changed_subscription_periods
     WHERE is_paid AND offer_type IS DISTINCT FROM 1
     ORDER BY sign, app_id, original_transaction_id, period_number
), active AS (
    SELECT f.app_id, f.cohort_month, f.product_id, f.period, s.from_month, s.until_month, sum(s.sign) AS subscriptions
      FROM first f
      JOIN refresh_month_steps s ON s.sign = f.sign AND s.app_id = f.app_id AND s.original_transaction_id = f.original_transaction_id
     GROUP BY f.app_id, f.cohort_month, f.product_id, f.period, s.from_month, s.until_month
)
SELECT
    app_id, cohort_month, product_id, period, month,
    sum(subscriptions) AS subscriptions, sum(retained) AS retained
FROM (
    SELECT app_id, cohort_month, product_id, period, cohort_month AS month, sign AS subscriptions, 0 AS retained FROM first
    UNION ALL
    SELECT app_id, cohort_month, product_id, period, greatest(from_month, cohort_month), 0, subscriptions FROM active
    UNION ALL
    SELECT app_id, cohort_month, product_id, period, greatest(until_month, cohort_month), 0, -subscriptions FROM active WHERE until_month IS NOT NULL
) counted
GROUP BY app_id, cohort_month, product_id, period, month;

CREATE OR REPLACE VIEW retention_cohorts AS
WITH cell AS (
    SELECT app_id, cohort_month, product_id, period,
           (date_part('year', age(month::timestamp, cohort_month::timestamp)) * 12
            + date_part('month', age(month::timestamp, cohort_month::timestamp)))::integer AS month_number,
           NULL::bigint AS subscriptions, retained
      FROM refresh_cohort_totals
    UNION ALL
    -- A month without changes gets a row of zeros. Only completed months are shown.
    SELECT s.app_id, s.cohort_month, s.product_id, s.period, n, s.subscriptions, 0
      FROM refresh_cohort_totals s
      CROSS JOIN refresh_state state
      CROSS JOIN LATERAL generate_series(0, (date_part('year', age(date_trunc('month', state.as_of AT TIME ZONE 'UTC'), s.cohort_month)) * 12 + date_part('month', age(date_trunc('month', state.as_of AT TIME ZONE 'UTC'), s.cohort_month)))::integer - 1) n
     WHERE s.month = s.cohort_month AND s.subscriptions > 0
), counted AS (
    SELECT app_id, cohort_month, product_id, period, month_number, max(subscriptions) AS subscriptions,
           sum(sum(retained)) OVER (PARTITION BY app_id, cohort_month, product_id, period ORDER BY month_number) AS retained
      FROM cell
     GROUP BY app_id, cohort_month, product_id, period, month_number
)
SELECT
    app_id, cohort_month, product_id, period, month_number, subscriptions, retained::bigint AS retained,
    round(retained / subscriptions, 4) AS retention_rate
FROM counted
WHERE subscriptions IS NOT NULL;
COMMENT ON VIEW retention_cohorts IS
    'Subscriptions first paid without an introductory offer in a month, and how many were active at the end of each later month. One row per completed month. A subscription that lapsed and came back counts again.';
COMMENT ON COLUMN retention_cohorts.cohort_month IS 'The month of the first paid period without an introductory offer; its first day, in UTC.';
COMMENT ON COLUMN retention_cohorts.product_id IS 'The product of that first period.';
COMMENT ON COLUMN retention_cohorts.period IS 'The nominal period of that product, as an ISO 8601 duration. NULL if it is unknown.';
COMMENT ON COLUMN retention_cohorts.month_number IS 'Months after the cohort''s month; 0 is the end of the cohort''s month.';
COMMENT ON COLUMN retention_cohorts.subscriptions IS 'Subscriptions in the cohort.';
COMMENT ON COLUMN retention_cohorts.retained IS 'How many of these subscriptions were active at the end of that month, for any product of the group.';
COMMENT ON COLUMN retention_cohorts.retention_rate IS 'retained divided by subscriptions, 0 to 1. To combine cohorts, divide the sums.';
