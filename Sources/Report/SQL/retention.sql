-- title: Retention by month
-- section: retention-and-churn
-- means: Of the subscriptions first paid for in a month without an introductory offer, how many were active at the end of each later month.
-- note: All storefronts and currencies.
-- docs: metrics.md#definitions-ours-and-others
-- nothing: No month of paid subscriptions is over yet.
-- views: retention_cohorts
-- flags: wide
-- rows: cohort
-- column: cohort | month | First paid in
-- column: month_number | text | Months later
-- column: product_id | text | Product
-- column: subscriptions | count at start | Subscriptions
-- column: retained | count | Retained
-- column: rate | rate | Retention | retained / subscriptions
-- draw: heat rate
SELECT app_id, to_char(cohort_month, 'YYYY-MM') AS cohort, month_number::text AS month_number, product_id, subscriptions, retained
  FROM retention_cohorts WHERE app_id = ANY (:apps::text[]::integer[]) AND cohort_month >= :since_month
