-- What was reported to Apple as sold and refunded outside the App Store?
--
-- One row for each app_id, month, reporting_currency, event_type. The newest version of a line counts, and a line that was sent by mistake does not.
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW external_purchases_by_month AS
SELECT app_id, date_trunc('month', created_at AT TIME ZONE 'UTC')::date AS month, reporting_currency, event_type, count(*) AS lines,
       sum(amount_tax_inclusive) AS amount_tax_inclusive,
       sum(amount_tax_exclusive) AS amount_tax_exclusive,
       sum(tax_amount) AS tax_amount
FROM external_purchase_report_lines
WHERE NOT is_erroneously_submitted
GROUP BY 1, 2, 3, 4;
COMMENT ON VIEW external_purchases_by_month IS 'Purchases and refunds outside the App Store that were reported to Apple, by month and currency.';
COMMENT ON COLUMN external_purchases_by_month.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN external_purchases_by_month.month IS 'The first day of the month (UTC) in which the customer authorised the purchase or refund.';
COMMENT ON COLUMN external_purchases_by_month.reporting_currency IS 'The currency of the amounts.';
COMMENT ON COLUMN external_purchases_by_month.event_type IS 'BUY or REFUND.';
COMMENT ON COLUMN external_purchases_by_month.lines IS 'The lines.';
COMMENT ON COLUMN external_purchases_by_month.amount_tax_inclusive IS 'The amounts with tax, in units of reporting_currency; positive for refunds, too.';
COMMENT ON COLUMN external_purchases_by_month.amount_tax_exclusive IS 'The amounts without tax, in units of reporting_currency.';
COMMENT ON COLUMN external_purchases_by_month.tax_amount IS 'The tax, in units of reporting_currency.';
