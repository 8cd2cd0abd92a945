-- How many refunds did customers request, and how did Apple decide?
--
-- A request is a CONSUMPTION_REQUEST notification. Its outcome is that of consumption_requests: the first REFUND or
-- REFUND_DECLINED for the same transaction after it, and a REFUND_REVERSED after the refund. Apple does not send a
-- CONSUMPTION_REQUEST for every refund request. So decisions without an earlier CONSUMPTION_REQUEST are counted separately,
-- in the month of the decision. Apple keeps notifications for 180 days, so older months are missing unless an earlier crawl
-- read them.
CREATE MATERIALIZED VIEW IF NOT EXISTS refund_requests_by_month AS
SELECT
    app_id, month, product_id, storefront, currency,
    count(*) FILTER (WHERE is_request) AS requests,
    count(*) FILTER (WHERE is_request AND outcome = 'refunded') AS refunded,
    count(*) FILTER (WHERE is_request AND outcome = 'declined') AS declined,
    count(*) FILTER (WHERE is_request AND outcome = 'reversed') AS reversed,
    count(*) FILTER (WHERE is_request AND outcome = 'pending') AS pending,
    round(count(*) FILTER (WHERE is_request AND outcome = 'refunded')::numeric
          / nullif(count(*) FILTER (WHERE is_request AND outcome <> 'pending'), 0), 4) AS refunded_rate,
    coalesce(sum(price_milliunits) FILTER (WHERE is_request), 0)::bigint AS requested_milliunits,
    coalesce(sum(price_milliunits) FILTER (WHERE is_request), 0) * 0.001 AS requested_amount,
    percentile_cont(0.5) WITHIN GROUP (ORDER BY delay) AS median_time_to_decision,
    count(*) FILTER (WHERE NOT is_request AND outcome = 'refunded') AS refunded_without_request,
    count(*) FILTER (WHERE NOT is_request AND outcome = 'declined') AS declined_without_request
FROM refresh_stored_refund_requests
GROUP BY app_id, month, product_id, storefront, currency
WITH NO DATA;
CREATE UNIQUE INDEX IF NOT EXISTS refund_requests_by_month_key
    ON refund_requests_by_month (app_id, month, product_id, storefront, currency) NULLS NOT DISTINCT;
COMMENT ON MATERIALIZED VIEW refund_requests_by_month IS
    'Apple''s CONSUMPTION_REQUEST notifications by month and outcome: requests = refunded + declined + reversed + pending. As of the last refresh. consumption_requests has each request with its deadline.';
COMMENT ON COLUMN refund_requests_by_month.month IS 'The month of the request; for refunded_without_request and declined_without_request, the month of the decision. Its first day, in UTC.';
COMMENT ON COLUMN refund_requests_by_month.requests IS 'Requests for consumption information after a customer requested a refund. A second request for the same purchase counts again.';
COMMENT ON COLUMN refund_requests_by_month.refunded IS 'Those of requests that Apple granted.';
COMMENT ON COLUMN refund_requests_by_month.declined IS 'Those of requests that Apple declined.';
COMMENT ON COLUMN refund_requests_by_month.reversed IS 'Those of requests that Apple granted and later reversed.';
COMMENT ON COLUMN refund_requests_by_month.pending IS 'Those of requests without a known decision.';
COMMENT ON COLUMN refund_requests_by_month.refunded_rate IS 'refunded divided by the number of decided requests, 0 to 1. NULL while no request is decided. To combine rows, divide the sums.';
COMMENT ON COLUMN refund_requests_by_month.requested_milliunits IS 'Prices of the purchases in these requests, in thousandths of a unit of currency. A purchase without a price adds nothing.';
COMMENT ON COLUMN refund_requests_by_month.median_time_to_decision IS 'Median time from the request to the last decision, for decided requests.';
COMMENT ON COLUMN refund_requests_by_month.refunded_without_request IS 'REFUND notifications for a purchase without a known earlier request.';
COMMENT ON COLUMN refund_requests_by_month.declined_without_request IS 'REFUND_DECLINED notifications for a purchase without a known earlier request.';
