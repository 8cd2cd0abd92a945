-- How much revenue does a customer (ARPU) and a paying customer (ARPPU) bring in a month?
--
-- The definitions are Adapty's: ARPU divides revenue by all users, ARPPU by the users who made a purchase in the period,
-- including refunded purchases. Apple's data contain only customers with a transaction. So a customer of the month is one
-- with any transaction in it, free trials included. Installations are unknown, so this ARPU is higher than ARPU per
-- installation.
--
-- One row for each app_id, month, currency.
-- Readers: loader, exporter, actor, analyst.
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

CREATE OR REPLACE VIEW average_revenue_by_month AS
SELECT
    app_id, month, currency, customers, paying_customers, net_milliunits,
    round(net_milliunits::numeric / customers)::bigint AS arpu_milliunits,
    round(net_milliunits::numeric / nullif(paying_customers, 0))::bigint AS arppu_milliunits,
    net_milliunits * 0.001 AS net_amount,
    round(net_milliunits::numeric / customers) * 0.001 AS arpu_amount,
    round(net_milliunits::numeric / nullif(paying_customers, 0)) * 0.001 AS arppu_amount
FROM refresh_average_revenue_totals;
COMMENT ON VIEW average_revenue_by_month IS
    'Customers with a transaction in the month, and revenue per customer, by currency. Revenue is net of refunds, before Apple''s commission and tax. A refund reduces the month of its purchase. The row of the current month is as of the last refresh.';
COMMENT ON COLUMN average_revenue_by_month.month IS 'The month of the purchases; its first day, in UTC.';
COMMENT ON COLUMN average_revenue_by_month.customers IS 'Customers with a transaction in the month, paid or free. A customer with two currencies counts in both. See customer_key in purchases for how customers are identified.';
COMMENT ON COLUMN average_revenue_by_month.paying_customers IS 'Customers who paid for something in the month, refunded or not.';
COMMENT ON COLUMN average_revenue_by_month.net_milliunits IS 'The month''s purchases less their refunds, whenever those were made; in thousandths of a unit of currency.';
COMMENT ON COLUMN average_revenue_by_month.arpu_milliunits IS 'net_milliunits divided by customers: average revenue per user.';
COMMENT ON COLUMN average_revenue_by_month.arppu_milliunits IS 'net_milliunits divided by paying_customers: average revenue per paying user. NULL if there are none.';
