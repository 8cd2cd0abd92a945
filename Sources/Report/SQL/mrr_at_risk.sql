-- title: MRR at risk
-- section: recurring
-- means: MRR of the subscriptions that are active now, by the month in which their period ends, and the part whose renewal is off or whose payment failed.
-- docs: metrics.md#rules-that-the-views-about-subscriptions-share
-- nothing: No paid subscription is active.
-- views: mrr_at_risk_by_month
-- flags: shares
-- rows: ends
-- column: ends | month | Ends in
-- column: product_id | text | Product
-- column: storefront | text | Storefront
-- column: currency | text | Currency
-- column: subscriptions | count | Subscriptions
-- column: will_not_renew | count of subscriptions | Renewal off
-- column: in_grace | count of subscriptions | In grace period
-- column: renewing | money of mrr | MRR expected to renew
-- column: grace | money of mrr | MRR in grace period
-- column: cancelled | money of mrr | MRR with renewal off
-- column: mrr | money | All MRR | renewing + grace + cancelled
-- draw: bars renewing/0 grace/4 cancelled/1
SELECT app_id, to_char(month, 'YYYY-MM') AS ends, product_id, storefront, currency, subscriptions, will_not_renew,
       in_grace_period AS in_grace, mrr_milliunits - at_risk_mrr_milliunits AS renewing,
       in_grace_period_mrr_milliunits AS grace, will_not_renew_mrr_milliunits AS cancelled,
       (now() AT TIME ZONE 'UTC')::date AS rate_day
  FROM mrr_at_risk_by_month WHERE app_id = ANY (:apps::text[]::integer[]) AND subscriptions > 0
