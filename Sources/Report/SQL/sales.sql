-- title: Sales and refunds
-- section: sales
-- means: What customers paid and what was refunded, each on its own day; neither Apple's commission nor tax is deducted.
-- note: Apple does not report the refund of an upgrade, so Net is too high by it. For accounting use Apple's financial reports.
-- see: upgrade-refunds
-- defines: Sales (gross) are the prices as customers paid them: with VAT where Apple's prices include it, which is not in the United States and Canada. Net is sales less the refunds of the same days, whenever the refunded purchase was. Apple's commission is in both. Net is rounded once, so it can differ by a cent from rounded sales less rounded refunds.
-- docs: metrics.md#how-a-refunds-amount-is-found
-- nothing: No purchases in this range.
-- views: revenue_by_day
-- flags: wide
-- column: day | day | Day
-- column: product_id | text | Product
-- column: storefront | text | Storefront
-- column: currency | text | Currency
-- column: purchases | count | Purchases
-- column: gross | money | Sales | new + renewal + one_time
-- column: refunds | count | Refunds
-- column: refunded | money | Refunded
-- column: net | money | Net | new + renewal + one_time - refunded
-- column: new | money |
-- column: renewal | money |
-- column: one_time | money |
-- draw: bars net/6/line gross/0 refunded/1/below
SELECT app_id, day, product_id, storefront, currency, purchases, new_milliunits AS new, renewal_milliunits AS renewal,
       one_time_milliunits AS one_time, refunds, refunded_milliunits AS refunded
  FROM revenue_by_day WHERE app_id = ANY (:apps::text[]::integer[])
