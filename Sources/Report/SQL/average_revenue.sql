-- title: Average revenue
-- section: recurring
-- means: A month's purchases, net of refunds, for each customer with a transaction in the month (ARPU) and for each who paid in it (ARPPU).
-- note: All products and storefronts. A customer who pays in two currencies counts in both.
-- defines: The purchases of the month less what was refunded of them at any time, divided by the customers with a transaction in the month, free ones included (ARPU), or by those who paid (ARPPU). Customers whose currency has no rate are not divided by.
-- docs: metrics.md#definitions-ours-and-others
-- nothing: No purchases in this range.
-- views: average_revenue_by_month
-- column: month | month | Month
-- column: currency | text | Currency
-- column: customers | count | Customers
-- column: payers | count of customers | Who paid
-- column: net | money | Net of the month's purchases
-- column: arpu | money | ARPU | net / customers
-- column: arppu | money | ARPPU | net / payers
-- draw: lines arpu/0 arppu/1
SELECT app_id, month, currency, customers, paying_customers AS payers, net_milliunits AS net
  FROM average_revenue_by_month WHERE app_id = ANY (:apps::text[]::integer[])
