-- Which refund requests need consumption information, until when, and what was the outcome?
--
-- Apple waits 12 hours for consumption information. The outcome is the first REFUND or REFUND_DECLINED notification for the
-- same transaction that was signed after the request. A REFUND_REVERSED notification reverses a refund.
CREATE OR REPLACE VIEW consumption_requests AS
SELECT
    n.app_id, n.notification_uuid, n.signed_date AS requested_at,
    n.signed_date + interval '12 hours' AS answer_until,
    greatest(n.signed_date + interval '12 hours' - now(), interval '0') AS time_left,
    n.consumption_request_reason, n.transaction_id, n.original_transaction_id,
    coalesce(n.product_id, t.product_id) AS product_id, t.type, t.storefront, paid.price_milliunits, t.currency,
    t.purchase_date,
    CASE WHEN reversed.signed_date IS NOT NULL THEN 'reversed' WHEN ended.notification_type = 'REFUND' THEN 'refunded'
         WHEN ended.notification_type = 'REFUND_DECLINED' THEN 'declined' ELSE 'pending' END AS outcome,
    coalesce(reversed.signed_date, ended.signed_date) AS decided_at,
    ended.signed_date IS NULL AND n.signed_date + interval '12 hours' > now() AS is_open,
    paid.price_milliunits * 0.001 AS price_amount
FROM notifications n
LEFT JOIN transactions t ON t.app_id = n.app_id AND t.transaction_id = n.transaction_id
LEFT JOIN seat_purchases seats ON seats.app_id = t.app_id AND seats.original_transaction_id = t.original_transaction_id
                              AND seats.transaction_id = t.transaction_id
CROSS JOIN LATERAL (SELECT coalesce(seats.price_milliunits, t.price_milliunits) AS price_milliunits) paid
LEFT JOIN LATERAL (
    SELECT e.notification_type, e.signed_date FROM notifications e
     WHERE e.app_id = n.app_id AND e.transaction_id = n.transaction_id AND e.signed_date >= n.signed_date
       AND e.notification_type IN ('REFUND', 'REFUND_DECLINED')
     ORDER BY e.signed_date, e.notification_uuid LIMIT 1
) ended ON true
LEFT JOIN LATERAL (
    SELECT e.signed_date FROM notifications e
     WHERE ended.notification_type = 'REFUND' AND e.app_id = n.app_id AND e.transaction_id = n.transaction_id
       AND e.signed_date >= ended.signed_date AND e.notification_type = 'REFUND_REVERSED'
     ORDER BY e.signed_date, e.notification_uuid LIMIT 1
) reversed ON true
WHERE n.notification_type = 'CONSUMPTION_REQUEST';
COMMENT ON VIEW consumption_requests IS
    'Apple''s CONSUMPTION_REQUEST notifications with their deadline and outcome. Apple does not report whether it received consumption information, so the view cannot show what an app''s server sent.';
COMMENT ON COLUMN consumption_requests.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN consumption_requests.notification_uuid IS 'Apple''s notificationUUID of the request.';
COMMENT ON COLUMN consumption_requests.requested_at IS 'When Apple signed the request.';
COMMENT ON COLUMN consumption_requests.answer_until IS 'The deadline for consumption information: twelve hours after requested_at.';
COMMENT ON COLUMN consumption_requests.time_left IS 'The time from now to answer_until; zero after the deadline.';
COMMENT ON COLUMN consumption_requests.consumption_request_reason IS 'Apple''s consumptionRequestReason: why the customer requested a refund.';
COMMENT ON COLUMN consumption_requests.price_milliunits IS 'The price of the purchase in thousandths of a unit of currency, of all seats for a subscription with several seats.';
COMMENT ON COLUMN consumption_requests.outcome IS 'pending, refunded, declined, or reversed (refunded first).';
COMMENT ON COLUMN consumption_requests.decided_at IS 'When Apple signed the notification of the outcome. NULL while pending.';
COMMENT ON COLUMN consumption_requests.is_open IS 'Whether a response still counts: there is no decision and the deadline has not passed.';
