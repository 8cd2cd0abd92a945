-- title: Lifetime value by cohort
-- section: recurring
-- means: What the customers who first paid in a month have paid so far, less refunds, divided by their number; no forecast.
-- note: All products and storefronts. A customer who pays in two currencies counts in both. Compare cohorts at the same month.
-- defines: What the customers who first paid in a month have paid up to the k-th month after it, less refunds, divided by these customers. Apple's commission is not deducted. Customers whose currency has no rate are not counted. It is no forecast.
-- docs: metrics.md#lifetime-value-and-arr
-- nothing: Nobody has paid yet.
-- views: lifetime_value_by_cohort
-- flags: wide
-- rows: cohort
-- column: cohort | month | First paid in
-- column: month_number | text | Months later
-- column: currency | text | Currency
-- column: customers | count at start | Customers
-- column: net | money so far |
-- column: value | money | Value of a customer | net / customers
-- draw: heat value
SELECT app_id, to_char(cohort_month, 'YYYY-MM') AS cohort, month_number::text AS month_number, currency, customers,
       net_milliunits AS net, (cohort_month + (month_number + 1) * interval '1 month')::date - 1 AS rate_day
  FROM lifetime_value_by_cohort WHERE app_id = ANY (:apps::text[]::integer[]) AND cohort_month >= :since_month
