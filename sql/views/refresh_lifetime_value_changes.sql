-- What do the customers with a changed transaction add to refresh_lifetime_value_totals?
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
