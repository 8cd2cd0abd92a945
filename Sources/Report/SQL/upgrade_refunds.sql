-- title: Refunds of upgrades
-- section: refunds
-- means: An estimate of what Apple gave back for periods that an upgrade ended; Apple does not report it, and net sales do not contain it.
-- docs: metrics.md#refunds-of-upgrades
-- nothing: No upgrade ended a period in this range.
-- views: revenue_by_month
-- column: month | month | Month
-- column: product_id | text | Product
-- column: storefront | text | Storefront
-- column: currency | text | Currency
-- column: estimated | money | Estimated refunds
-- column: upgrades | count | Upgrades
-- draw: bars estimated/4
SELECT app_id, month, product_id, storefront, currency, estimated_upgrade_refund_milliunits AS estimated,
       estimated_upgrade_refunds AS upgrades
  FROM revenue_by_month WHERE app_id = ANY (:apps::text[]::integer[]) AND estimated_upgrade_refunds <> 0
