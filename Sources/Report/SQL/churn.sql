-- title: Why subscriptions were lost
-- section: retention-and-churn
-- means: Subscriptions that were active at the end of a month and no longer at the end of the next, by Apple's reason.
-- note: All storefronts and currencies. Unknown is the reason of customers who came back, and of some older losses. This churn is usually higher than that of “Subscriptions by month”.
-- see: mrr-movement
-- defines: Active and paid at the end of the month before, and not at the end of this one. A subscription that ended and came back within the month is not lost.
-- docs: metrics.md#definitions-ours-and-others
-- nothing: No subscription was lost in this range.
-- views: renewals_and_churn_by_month
-- flags: shares
-- column: month | month | Month
-- column: product_id | text | Product
-- column: voluntary | count of churned | Cancelled
-- column: billing | count of churned | Billing
-- column: price | count of churned | Price
-- column: refund | count of churned | Refund
-- column: other | count of churned | Other
-- column: unknown | count of churned | Unknown
-- column: churned | count of active | All | voluntary + billing + price + refund + other + unknown
-- column: active | count at start | Active at its beginning
-- draw: bars voluntary/1 billing/0 price/3 refund/4 other/2 unknown/5
SELECT app_id, month, product_id, churned_voluntary AS voluntary, churned_billing AS billing, churned_price AS price,
       churned_refund AS refund, churned_other AS other, churned_unknown AS unknown, active_at_start AS active
  FROM renewals_and_churn_by_month WHERE app_id = ANY (:apps::text[]::integer[])
