-- title: Refund rate
-- section: refunds
-- means: Refunded purchases as a share of the purchases of the month, by the month of the purchase, not of the refund.
-- note: Apple can refund a purchase for 90 days, so the rates of the last three months can still rise.
-- defines: Refunded purchases, in whole or in part, divided by the purchases of the month. A refund counts in the month of its purchase.
-- docs: metrics.md#definitions-ours-and-others
-- nothing: No purchases in this range.
-- views: refund_rate_by_month
-- column: month | month | Month
-- column: product_id | text | Product
-- column: storefront | text | Storefront
-- column: currency | text | Currency
-- column: purchases | count | Purchases
-- column: refunded | count | Of which refunded
-- column: rate | rate | Refund rate | refunded / purchases
-- column: issues | count of refunded | For an issue with the app
-- column: given_back | money |
-- draw: bars rate/1
SELECT app_id, month, product_id, storefront, currency, purchases, refunded, refunded_for_an_issue AS issues,
       refunded_milliunits AS given_back
  FROM refund_rate_by_month WHERE app_id = ANY (:apps::text[]::integer[])
