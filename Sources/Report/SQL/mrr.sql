-- title: MRR and ARR
-- section: recurring
-- means: MRR is what the active subscriptions bring in a month, and ARR is twelve times the MRR at the end of the month: what the present subscriptions bring in a year if none begins, ends or changes.
-- defines: The price of each paid subscription that is active at the last instant of the month, brought to a month: a day times 30, a week times 4, a year divided by 12. ARR is 12 times as much. Trials and shared subscriptions have no MRR, and cancelling does not end it before the period ends.
-- docs: metrics.md#lifetime-value-and-arr
-- nothing: No paid subscriptions in this range.
-- views: mrr_by_month
-- column: month | month | Month
-- column: product_id | text | Product
-- column: storefront | text | Storefront
-- column: currency | text | Currency
-- column: mrr | money at end | MRR
-- column: arr | money at end | ARR | 12 * mrr
-- column: subscriptions | count at end | Subscriptions
-- draw: lines mrr/0 arr/3
SELECT app_id, month, product_id, storefront, currency, mrr_milliunits AS mrr, active_subscriptions AS subscriptions
  FROM mrr_by_month WHERE app_id = ANY (:apps::text[]::integer[])
