-- How much was sold and refunded each month, by product, storefront and currency?
--
-- A sale counts in the month of the purchase, a refund in the month of the refund. So a later refund does not change a
-- completed month. RevenueCat instead deducts a refund from the month of the purchase; see refund_rate_by_month for that.
--
-- After an upgrade during a period, Apple refunds part of the old period and does not report the refund. gross, refunded
-- and net count the full price of both periods. The estimate has a separate column, in the month of the upgrade; see
-- subscription_periods.
--
-- One row for each app_id, month, product_id, type, storefront, currency.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW refresh_revenue_changes AS
SELECT
    app_id, month, product_id, type, storefront, currency,
    sum(purchases) AS purchases, sum(units) AS units, sum(free) AS free_purchases, sum(gross) AS gross_milliunits,
    sum(refunds) AS refunds, sum(refunded) AS refunded_milliunits, sum(without_price) AS without_price,
    sum(upgrades) AS estimated_upgrade_refunds, sum(upgrade_refunds) AS estimated_upgrade_refund_milliunits
FROM (
    SELECT app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date AS month, product_id, type, storefront, currency, sum(sign) FILTER (WHERE is_paid) AS purchases,
           sum(sign * quantity) FILTER (WHERE is_paid) AS units, sum(sign) FILTER (WHERE NOT is_paid) AS free,
           sum(sign * price_milliunits) AS gross, 0 AS refunds, 0 AS refunded,
           sum(sign) FILTER (WHERE price_milliunits IS NULL) AS without_price, 0 AS upgrades, 0 AS upgrade_refunds
      FROM refresh_changed_transactions WHERE is_purchase AND purchase_date IS NOT NULL
     GROUP BY app_id, date_trunc('month', purchase_date AT TIME ZONE 'UTC')::date, product_id, type, storefront, currency
    UNION ALL
    SELECT app_id, date_trunc('month', refund_date AT TIME ZONE 'UTC')::date, product_id, type, storefront, currency, 0, 0, 0, 0, sum(sign),
           sum(sign * refunded_milliunits), 0, 0, 0
      FROM refresh_changed_transactions WHERE is_refunded AND is_paid
     GROUP BY app_id, date_trunc('month', refund_date AT TIME ZONE 'UTC')::date, product_id, type, storefront, currency
    UNION ALL
    SELECT app_id, date_trunc('month', next_starts_at AT TIME ZONE 'UTC')::date, product_id, 'Auto-Renewable Subscription', storefront,
           currency, 0, 0, 0, 0, 0, 0, 0, sum(sign), sum(sign * estimated_upgrade_refund_milliunits)
      FROM refresh_changed_periods WHERE estimated_upgrade_refund_milliunits IS NOT NULL
     GROUP BY app_id, date_trunc('month', next_starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, currency
) booked
GROUP BY app_id, month, product_id, type, storefront, currency;

CREATE OR REPLACE VIEW revenue_by_month AS
SELECT
    app_id, month, product_id, type, storefront, currency, purchases, units, free_purchases, gross_milliunits, refunds,
    refunded_milliunits,
    gross_milliunits - refunded_milliunits AS net_milliunits,
    without_price, estimated_upgrade_refunds, estimated_upgrade_refund_milliunits,
    gross_milliunits * 0.001 AS gross_amount,
    refunded_milliunits * 0.001 AS refunded_amount,
    (gross_milliunits - refunded_milliunits) * 0.001 AS net_amount,
    estimated_upgrade_refund_milliunits * 0.001 AS estimated_upgrade_refund_amount
FROM refresh_revenue_totals;
COMMENT ON VIEW revenue_by_month IS
    'Sales and refunds by month, product, type, storefront and currency, before Apple''s commission and tax. Sum the rows for a month''s total. Apple''s fiscal months differ from calendar months. Use App Store Connect''s reports for accounting.';
COMMENT ON COLUMN revenue_by_month.month IS 'The first day of the month, in UTC.';
COMMENT ON COLUMN revenue_by_month.purchases IS 'Purchases and renewals with a price.';
COMMENT ON COLUMN revenue_by_month.units IS 'The sum of Apple''s quantity of these purchases.';
COMMENT ON COLUMN revenue_by_month.free_purchases IS 'Transactions at the price 0, including trials.';
COMMENT ON COLUMN revenue_by_month.gross_milliunits IS 'Prices of the month''s purchases, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_month.refunds IS 'Purchases of any month with a price that were refunded in this month, in whole or in part.';
COMMENT ON COLUMN revenue_by_month.refunded_milliunits IS 'Amounts refunded in the month, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_month.net_milliunits IS 'gross_milliunits less refunded_milliunits. Negative if refunds exceed sales. The estimated refunds of upgrades are not subtracted.';
COMMENT ON COLUMN revenue_by_month.without_price IS 'Purchases without a known price. They add nothing to gross_milliunits.';
COMMENT ON COLUMN revenue_by_month.estimated_upgrade_refunds IS 'Periods that an upgrade in the month replaced and that have an estimated refund.';
COMMENT ON COLUMN revenue_by_month.estimated_upgrade_refund_milliunits IS
    'Estimated refunds of periods that an upgrade replaced in the month, under the replaced product, in thousandths of a unit of currency. Apple does not report these refunds; refunded_milliunits and net_milliunits do not contain them.';
