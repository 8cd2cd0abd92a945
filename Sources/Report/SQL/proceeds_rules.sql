-- title: Rules of the estimated proceeds
-- section: sales
-- means: Your rules in proceeds_rules: the tax in a price and Apple's commission, from a day on; the rule of a storefront goes before that of all (*).
-- docs: metrics.md#commission-after-a-year-of-paid-service
-- nothing: There are no rules, so there are no proceeds.
-- views: proceeds_rules
-- flags: plain
-- column: storefront | text | Storefront
-- column: valid_from | day | From
-- column: tax | rate | Tax
-- column: commission | rate | Commission
-- column: after_a_year | rate | After a year
SELECT storefront, valid_from::text AS valid_from, tax, commission, coalesce(commission_after_a_year, commission) AS after_a_year
  FROM proceeds_rules WHERE app_id = :app ORDER BY storefront = '*', storefront, valid_from DESC
