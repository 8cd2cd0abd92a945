-- title: Retention by renewal
-- section: retention-and-churn
-- means: Of the subscriptions paid for the n-th time whose period is over, how many were paid for again.
-- note: All storefronts and currencies.
-- docs: metrics.md#definitions-ours-and-others
-- nothing: No paid period is over yet.
-- views: retention_by_renewal
-- rows: payment
-- column: payment | text | Payment
-- column: product_id | text | Product
-- column: subscriptions | count | Subscriptions
-- column: due | count | Due
-- column: renewed | count of due | Paid again
-- column: rate | rate | Retention | renewed / due
-- draw: bars rate/0
SELECT app_id, payment_number::text AS payment, product_id, subscriptions, due, renewed
  FROM retention_by_renewal WHERE app_id = ANY (:apps::text[]::integer[])
