-- title: New customers
-- section: subscriptions
-- means: Customers by the day of their first purchase, paid or free.
-- note: All currencies.
-- docs: metrics.md#what-counts-as-one-purchase-and-who-the-customer-is
-- nothing: No customer bought for the first time in this range.
-- views: new_customers_by_day
-- column: day | day | Day
-- column: product_id | text | Product
-- column: storefront | text | Storefront
-- column: paying | count of customers | Paid for it
-- column: free | count of customers | Free at first | customers - paying
-- column: customers | count | All
-- draw: bars customers/6/line paying/0 free/2
SELECT app_id, day, product_id, storefront, customers, paying_customers AS paying
  FROM new_customers_by_day WHERE app_id = ANY (:apps::text[]::integer[])
