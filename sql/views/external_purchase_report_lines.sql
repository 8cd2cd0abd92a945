-- Which lines of external purchases has Apple taken, in their newest version?
--
-- One row for each app_id, line_item_id. A restatement replaces the whole line. Sums leave out the lines that are erroneously submitted.
-- Readers: loader, exporter, actor.
CREATE OR REPLACE VIEW external_purchase_report_lines AS
SELECT DISTINCT ON (i.app_id, i.line_item_id)
    i.app_id, i.line_item_id, r.subject AS external_purchase_id,
    to_timestamp((i.parameters ->> 'creation_date')::bigint / 1000.0) AS created_at,
    i.parameters ->> 'event_type' AS event_type, i.parameters ->> 'product_type' AS product_type,
    i.parameters ->> 'product_identifier' AS product_identifier, (i.parameters ->> 'quantity')::bigint AS quantity,
    i.parameters ->> 'reporting_currency' AS reporting_currency,
    (i.parameters ->> 'amount_tax_inclusive')::bigint * 0.001 AS amount_tax_inclusive,
    (i.parameters ->> 'amount_tax_exclusive')::bigint * 0.001 AS amount_tax_exclusive,
    (i.parameters ->> 'tax_amount')::bigint * 0.001 AS tax_amount,
    (i.parameters ->> 'net_amount_tax_exclusive')::bigint * 0.001 AS net_amount_tax_exclusive,
    i.parameters ->> 'pricing_currency' AS pricing_currency, (i.parameters ->> 'exchange_rate')::numeric AS exchange_rate,
    i.parameters ->> 'tax_country' AS tax_country, i.parameters ->> 'reference_line_item_id' AS reference_line_item_id,
    i.parameters ->> 'subscription_event' AS subscription_event,
    coalesce((i.parameters ->> 'restatement')::boolean, false) AS is_restatement,
    coalesce((i.parameters ->> 'erroneously_submitted')::boolean, false) AS is_erroneously_submitted,
    r.ended_at AS reported_at, r.request_id::text AS request_identifier, b.job, b.rows_sha256 AS batch
FROM action_input_rows i
JOIN action_rows r ON r.app_id = i.app_id AND r.batch_id = i.batch_id AND r.position = i.position AND r.state = 'succeeded'
JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
WHERE i.line_item_id IS NOT NULL
ORDER BY i.app_id, i.line_item_id, r.ended_at DESC, r.batch_id;
COMMENT ON VIEW external_purchase_report_lines IS
    'The lines of external purchase reports that Apple took, each in its newest version: purchases and refunds outside the App Store.';
COMMENT ON COLUMN external_purchase_report_lines.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN external_purchase_report_lines.line_item_id IS 'Apple''s lineItemId, which the app has chosen.';
COMMENT ON COLUMN external_purchase_report_lines.external_purchase_id IS 'Apple''s externalPurchaseId: identifies the token.';
COMMENT ON COLUMN external_purchase_report_lines.created_at IS 'Apple''s creationDate: when the customer authorised the purchase or refund.';
COMMENT ON COLUMN external_purchase_report_lines.event_type IS 'Apple''s eventType: BUY or REFUND.';
COMMENT ON COLUMN external_purchase_report_lines.product_type IS 'Apple''s productType: ONE_TIME_BUY or SUBSCRIPTION; NULL for a refund.';
COMMENT ON COLUMN external_purchase_report_lines.product_identifier IS 'Apple''s productIdentifier, which the app has chosen; NULL for a refund.';
COMMENT ON COLUMN external_purchase_report_lines.quantity IS 'Apple''s quantity. The amounts are of the whole line; NULL for a refund.';
COMMENT ON COLUMN external_purchase_report_lines.reporting_currency IS 'The currency of the amounts.';
COMMENT ON COLUMN external_purchase_report_lines.amount_tax_inclusive IS 'The amount with tax, in units of reporting_currency; positive for a refund, too.';
COMMENT ON COLUMN external_purchase_report_lines.amount_tax_exclusive IS 'The amount without tax, in units of reporting_currency.';
COMMENT ON COLUMN external_purchase_report_lines.tax_amount IS 'The tax, in units of reporting_currency.';
COMMENT ON COLUMN external_purchase_report_lines.net_amount_tax_exclusive IS 'The purchase without tax and without all of its refunds so far, in units of reporting_currency.';
COMMENT ON COLUMN external_purchase_report_lines.pricing_currency IS 'The currency that the customer was charged in.';
COMMENT ON COLUMN external_purchase_report_lines.exchange_rate IS 'The rate from pricing_currency to reporting_currency; NULL if they are equal.';
COMMENT ON COLUMN external_purchase_report_lines.tax_country IS 'Apple''s taxCountry: ISO 3166-1 alpha-3.';
COMMENT ON COLUMN external_purchase_report_lines.reference_line_item_id IS 'The line of the purchase that is refunded, or with which the subscription began.';
COMMENT ON COLUMN external_purchase_report_lines.subscription_event IS 'Apple''s subscriptionEvent, such as RENEWAL; NULL for other lines.';
COMMENT ON COLUMN external_purchase_report_lines.is_restatement IS 'Whether this version corrects an earlier one.';
COMMENT ON COLUMN external_purchase_report_lines.is_erroneously_submitted IS 'Whether the line was sent by mistake, so that it counts for nothing.';
COMMENT ON COLUMN external_purchase_report_lines.reported_at IS 'When Apple took this version.';
COMMENT ON COLUMN external_purchase_report_lines.request_identifier IS 'Apple''s requestIdentifier of the report.';
COMMENT ON COLUMN external_purchase_report_lines.job IS 'The job that reported.';
COMMENT ON COLUMN external_purchase_report_lines.batch IS 'The hash of the batch: action_batches.rows_sha256.';
