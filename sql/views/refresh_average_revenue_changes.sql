-- What do the customers with a changed transaction add to refresh_average_revenue_totals?
CREATE OR REPLACE VIEW refresh_average_revenue_changes AS
SELECT
    app_id, month, currency,
    sum(sign) AS customers,
    sum(sign) FILTER (WHERE is_payer) AS paying_customers,
    sum(sign * net) AS net_milliunits
FROM (
    SELECT sign, app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date AS month, currency, customer_key, bool_or(is_paid) AS is_payer,
           coalesce(sum(net_milliunits) FILTER (WHERE is_paid), 0) AS net
      FROM refresh_changed_customer_purchases WHERE purchase_date IS NOT NULL
     GROUP BY sign, app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date, currency, customer_key
) customer
GROUP BY app_id, month, currency;
