-- How many refunds did customers request, and how did Apple decide?
--
-- A request is a CONSUMPTION_REQUEST notification. Its outcome is the same as in consumption_requests: the first REFUND or
-- REFUND_DECLINED for the same transaction after it, and a REFUND_REVERSED after the refund. Apple does not send a
-- CONSUMPTION_REQUEST for every refund request. So decisions without an earlier CONSUMPTION_REQUEST are counted separately,
-- in the month of the decision. Apple keeps notifications for 180 days, so older months are missing unless an earlier crawl
-- read them.
--
-- One row for each app_id, month, product_id, storefront, currency.
-- Readers: loader, exporter, actor, analyst.

-- One row for each app_id, month, product_id, storefront, currency, delay.
CREATE OR REPLACE VIEW refresh_decision_time_changes AS
SELECT app_id, month, product_id, storefront, currency, delay, sum(sign) AS requests
FROM refresh_changed_refund_requests
WHERE delay IS NOT NULL
GROUP BY app_id, month, product_id, storefront, currency, delay;

CREATE OR REPLACE VIEW refresh_refund_request_changes AS
SELECT
    app_id, month, product_id, storefront, currency,
    sum(sign) FILTER (WHERE is_request) AS requests,
    sum(sign) FILTER (WHERE is_request AND outcome = 'refunded') AS refunded,
    sum(sign) FILTER (WHERE is_request AND outcome = 'declined') AS declined,
    sum(sign) FILTER (WHERE is_request AND outcome = 'reversed') AS reversed,
    sum(sign) FILTER (WHERE is_request AND outcome = 'pending') AS pending,
    sum(sign * price_milliunits) FILTER (WHERE is_request) AS requested_milliunits,
    sum(sign) FILTER (WHERE NOT is_request AND outcome = 'refunded') AS refunded_without_request,
    sum(sign) FILTER (WHERE NOT is_request AND outcome = 'declined') AS declined_without_request
FROM refresh_changed_refund_requests
GROUP BY app_id, month, product_id, storefront, currency;

CREATE OR REPLACE VIEW refund_requests_by_month AS
SELECT
    t.app_id, t.month, t.product_id, t.storefront, t.currency,
    t.requests, t.refunded, t.declined, t.reversed, t.pending,
    round(t.refunded::numeric / nullif(t.requests - t.pending, 0), 4) AS refunded_rate,
    t.requested_milliunits,
    t.requested_milliunits * 0.001 AS requested_amount,
    d.median AS median_time_to_decision,
    t.refunded_without_request, t.declined_without_request
FROM refresh_refund_request_totals t
LEFT JOIN LATERAL (
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY d.delay) AS median
      FROM refresh_decision_time_totals d CROSS JOIN LATERAL generate_series(1, d.requests) n
     WHERE d.app_id = t.app_id AND d.month = t.month
       AND (d.product_id, d.storefront, d.currency) IS NOT DISTINCT FROM (t.product_id, t.storefront, t.currency)
) d ON true;
COMMENT ON VIEW refund_requests_by_month IS
    'Apple''s CONSUMPTION_REQUEST notifications by month and outcome: requests = refunded + declined + reversed + pending. As of the last refresh. consumption_requests has each request with its deadline.';
COMMENT ON COLUMN refund_requests_by_month.month IS 'The month of the request; for refunded_without_request and declined_without_request, the month of the decision. Its first day, in UTC.';
COMMENT ON COLUMN refund_requests_by_month.requests IS 'Requests for consumption information after a customer requested a refund. A second request for the same purchase counts again.';
COMMENT ON COLUMN refund_requests_by_month.refunded IS 'Requests that Apple granted.';
COMMENT ON COLUMN refund_requests_by_month.declined IS 'Requests that Apple declined.';
COMMENT ON COLUMN refund_requests_by_month.reversed IS 'Requests that Apple granted and later reversed.';
COMMENT ON COLUMN refund_requests_by_month.pending IS 'Requests without a known decision.';
COMMENT ON COLUMN refund_requests_by_month.refunded_rate IS 'refunded divided by the number of decided requests, 0 to 1. NULL while no request is decided. To combine rows, divide the sums.';
COMMENT ON COLUMN refund_requests_by_month.requested_milliunits IS 'Prices of the purchases in these requests, in thousandths of a unit of currency. A purchase without a price adds nothing.';
COMMENT ON COLUMN refund_requests_by_month.median_time_to_decision IS 'Median time from the request to the last decision, for decided requests.';
COMMENT ON COLUMN refund_requests_by_month.refunded_without_request IS 'REFUND notifications for a purchase without a known earlier request.';
COMMENT ON COLUMN refund_requests_by_month.declined_without_request IS 'REFUND_DECLINED notifications for a purchase without a known earlier request.';
