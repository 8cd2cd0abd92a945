-- How much revenue has a customer brought in the first k months?
--
-- The definition is RevenueCat's: realized lifetime value is the revenue less refunds of a cohort within a number of days,
-- divided by its customers. This view uses calendar months: month 0 is the month of the first payment. A refund reduces the
-- month of its purchase. Apple's data contain only customers with a transaction, so this is the value of a paying customer.
--
-- One row for each app_id, cohort_month, currency, month_number.
-- Readers: loader, exporter, actor, analyst.

-- One row for each app_id, cohort_month, currency, month.
CREATE OR REPLACE VIEW refresh_lifetime_value_changes AS
WITH paid AS (
    SELECT sign, app_id, customer_key, currency, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date AS month, coalesce(sum(net_milliunits), 0) AS net
      FROM refresh_changed_customer_purchases WHERE is_paid AND purchase_date IS NOT NULL
     GROUP BY sign, app_id, customer_key, currency, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date
), placed AS (
    SELECT sign, app_id, currency, month, net,
           min(month) OVER (PARTITION BY sign, app_id, customer_key, currency) AS cohort_month
      FROM paid
)
SELECT
    app_id, cohort_month, currency, month,
    sum(sign) FILTER (WHERE month = cohort_month) AS customers,
    sum(sign * net) AS net_milliunits
FROM placed
GROUP BY app_id, cohort_month, currency, month;

CREATE OR REPLACE VIEW lifetime_value_by_cohort AS
WITH part AS (
    SELECT app_id, cohort_month, currency,
           (date_part('year', age(month::timestamp, cohort_month::timestamp)) * 12
            + date_part('month', age(month::timestamp, cohort_month::timestamp)))::integer AS month_number,
           NULL::bigint AS customers, net_milliunits AS net
      FROM refresh_lifetime_value_totals
    UNION ALL
    -- A month without payments gets a row of zeros.
    SELECT c.app_id, c.cohort_month, c.currency, n, c.customers, 0
      FROM refresh_lifetime_value_totals c
      CROSS JOIN refresh_state state
      CROSS JOIN LATERAL generate_series(0, (date_part('year', age(date_trunc('month', state.as_of AT TIME ZONE 'UTC'), c.cohort_month)) * 12 + date_part('month', age(date_trunc('month', state.as_of AT TIME ZONE 'UTC'), c.cohort_month)))::integer) n
     WHERE c.month = c.cohort_month
), cell AS (
    SELECT app_id, cohort_month, currency, month_number, max(customers) AS customers, sum(net) AS net
      FROM part GROUP BY app_id, cohort_month, currency, month_number
    HAVING max(customers) IS NOT NULL
)
SELECT
    app_id, cohort_month, currency, month_number, customers,
    net::bigint AS net_milliunits,
    sum(net) OVER so_far::bigint AS cumulative_milliunits,
    round(sum(net) OVER so_far / customers)::bigint AS value_milliunits,
    net * 0.001 AS net_amount,
    sum(net) OVER so_far * 0.001 AS cumulative_amount,
    round(sum(net) OVER so_far / customers) * 0.001 AS value_amount
FROM cell
WINDOW so_far AS (PARTITION BY app_id, cohort_month, currency ORDER BY month_number);
COMMENT ON VIEW lifetime_value_by_cohort IS
    'Revenue to date from the customers who first paid in a month, net of refunds, before Apple''s commission and tax. A customer who pays in two currencies counts in both. The row of the current month is as of the last refresh.';
COMMENT ON COLUMN lifetime_value_by_cohort.cohort_month IS 'The month of the customer''s first payment in the currency; its first day, in UTC.';
COMMENT ON COLUMN lifetime_value_by_cohort.month_number IS 'Months after the cohort''s month; 0 is the cohort''s month.';
COMMENT ON COLUMN lifetime_value_by_cohort.customers IS 'Customers in the cohort. See customer_key in purchases for how customers are identified.';
COMMENT ON COLUMN lifetime_value_by_cohort.net_milliunits IS 'Payments of the cohort in that month less their refunds, whenever those were made; in thousandths of a unit of currency.';
COMMENT ON COLUMN lifetime_value_by_cohort.cumulative_milliunits IS 'The sum of net_milliunits from month 0 to that month.';
COMMENT ON COLUMN lifetime_value_by_cohort.value_milliunits IS 'cumulative_milliunits divided by customers.';
