-- title: Refund requests
-- section: refunds
-- means: Apple's requests for consumption information by month, and what Apple decided.
-- docs: metrics.md#definitions-ours-and-others
-- nothing: No refund request is known in this range.
-- views: refund_requests_by_month
-- flags: shares
-- column: month | month | Month
-- column: product_id | text | Product
-- column: storefront | text | Storefront
-- column: currency | text | Currency
-- column: refunded | count of requests | Refunded
-- column: declined | count of requests | Declined
-- column: reversed | count of requests | Reversed
-- column: pending | count of requests | No decision known
-- column: requests | count | All | refunded + declined + reversed + pending
-- column: refunded_without_request | count | Refunded without a request
-- column: declined_without_request | count | Declined without a request
-- draw: bars refunded/1 declined/0 reversed/3 pending/5
SELECT app_id, month, product_id, storefront, currency, refunded, declined, reversed, pending, refunded_without_request,
       declined_without_request
  FROM refund_requests_by_month WHERE app_id = ANY (:apps::text[]::integer[])
