-- What do the notifications that changed add to refresh_refund_request_totals?
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
