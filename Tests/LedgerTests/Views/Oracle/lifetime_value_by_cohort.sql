-- What does lifetime_value_by_cohort show when it is computed from every record?
WITH customer AS (
    SELECT app_id, customer_key, currency, min(month) AS cohort_month
      FROM purchases WHERE is_paid AND month IS NOT NULL
     GROUP BY app_id, customer_key, currency
), size AS (
    SELECT app_id, cohort_month, currency, count(*) AS customers FROM customer GROUP BY app_id, cohort_month, currency
), part AS (
    SELECT s.app_id, s.cohort_month, s.currency, n AS month_number, s.customers, 0 AS net
      FROM size s
      CROSS JOIN LATERAL generate_series(0,
          (date_part('year', age(date_trunc('month', now() AT TIME ZONE 'UTC'), s.cohort_month)) * 12
           + date_part('month', age(date_trunc('month', now() AT TIME ZONE 'UTC'), s.cohort_month)))::integer) n
    UNION ALL
    SELECT app_id, cohort_month, currency,
           (date_part('year', age(month::timestamp, cohort_month::timestamp)) * 12
            + date_part('month', age(month::timestamp, cohort_month::timestamp)))::integer,
           NULL, net
      FROM (SELECT c.app_id, c.cohort_month, c.currency, p.month, coalesce(sum(p.net_milliunits), 0) AS net
              FROM purchases p
              JOIN customer c ON c.app_id = p.app_id AND c.customer_key = p.customer_key
                             AND c.currency IS NOT DISTINCT FROM p.currency
             WHERE p.is_paid AND p.month IS NOT NULL
             GROUP BY c.app_id, c.cohort_month, c.currency, p.month) paid
), cell AS (
    -- Zeros for every month of every cohort and the actual amounts are added up. A join instead would compare every
    -- row with every row, because currency can be NULL.
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
WINDOW so_far AS (PARTITION BY app_id, cohort_month, currency ORDER BY month_number)
