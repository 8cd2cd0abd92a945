-- title: Estimated proceeds
-- section: sales
-- means: Net sales less tax and Apple's commission by your rules, which the next table has; only in the reporting currency.
-- defines: Net sales, divided by 1 plus the tax and multiplied by 1 less the commission of the rule that applies to the storefront in the month. Apple's own proceeds differ: it converts at other rates and on other days. What has no rule or no rate is left out.
-- docs: metrics.md#commission-after-a-year-of-paid-service
-- flags: converted
-- nothing: No proceeds in this choice: there are no rates or no rules.
-- views: proceeds_converted_by_month
-- column: month | month | Month
-- column: product_id | text | Product
-- column: storefront | text | Storefront
-- column: proceeds | money | Proceeds
-- column: net | money | Net sales
-- column: without_rule | count if any | Products and storefronts without a rule
-- column: unrated | count |
-- draw: bars proceeds/3
SELECT app_id, month, product_id, storefront, proceeds_estimated_amount * 1000 AS proceeds,
       net_estimated_amount * 1000 AS net, is_without_rule::integer AS without_rule,
       cardinality(currencies_without_rate) AS unrated
  FROM proceeds_converted_by_month WHERE app_id = ANY (:apps::text[]::integer[]) AND reporting_currency = :reporting
   -- The view would read every sale.
   AND EXISTS (SELECT FROM proceeds_rules)
