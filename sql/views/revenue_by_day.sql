-- How much revenue came each day from new subscriptions, from renewals and from one-time purchases?
--
-- The first payment of a subscription is new revenue, even after a free trial. Every later payment is renewal revenue. A sale
-- counts on the day of the purchase, a refund on the day of the refund. So the days add up to the months of revenue_by_month.
--
-- One row for each app_id, day, product_id, storefront, currency.
CREATE OR REPLACE VIEW revenue_by_day AS
SELECT
    app_id, day, product_id, storefront, currency, purchases, new_payments, renewal_payments,
    gross_milliunits, new_milliunits, renewal_milliunits,
    gross_milliunits - new_milliunits - renewal_milliunits AS one_time_milliunits,
    refunds, refunded_milliunits,
    gross_milliunits - refunded_milliunits AS net_milliunits,
    gross_milliunits * 0.001 AS gross_amount,
    new_milliunits * 0.001 AS new_amount,
    renewal_milliunits * 0.001 AS renewal_amount,
    (gross_milliunits - new_milliunits - renewal_milliunits) * 0.001 AS one_time_amount,
    refunded_milliunits * 0.001 AS refunded_amount,
    (gross_milliunits - refunded_milliunits) * 0.001 AS net_amount
FROM refresh_daily_revenue_totals;
COMMENT ON VIEW revenue_by_day IS
    'Sales and refunds of each day by product, storefront and currency, before Apple''s commission and tax: gross = new + renewal + one_time. Days without sales and refunds have no row. Today''s row is as of the last refresh.';
COMMENT ON COLUMN revenue_by_day.day IS 'The day, in UTC.';
COMMENT ON COLUMN revenue_by_day.purchases IS 'Purchases and renewals with a price.';
COMMENT ON COLUMN revenue_by_day.new_payments IS 'Purchases that are the first payment of a subscription.';
COMMENT ON COLUMN revenue_by_day.renewal_payments IS 'Purchases that are a later payment of a subscription: renewals, product changes, purchases after a gap.';
COMMENT ON COLUMN revenue_by_day.gross_milliunits IS 'Prices of the day''s purchases, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.new_milliunits IS 'First payments of subscriptions, including trial conversions, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.renewal_milliunits IS 'Later payments of subscriptions, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.one_time_milliunits IS 'All other purchases, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.refunds IS 'Purchases with a price that were refunded on the day, in whole or in part, regardless of the purchase date.';
COMMENT ON COLUMN revenue_by_day.refunded_milliunits IS 'Amounts refunded on the day, in thousandths of a unit of currency.';
COMMENT ON COLUMN revenue_by_day.net_milliunits IS 'gross_milliunits less refunded_milliunits. The estimated refunds of upgrades are not subtracted.';
