-- Which refund requests need consumption information, until when, and what was the outcome?
--
-- Apple waits 12 hours for consumption information. The outcome is the first REFUND or REFUND_DECLINED notification for the
-- same transaction that was signed after the request. A REFUND_REVERSED notification reverses a refund.
--
-- is_open compares signed_date alone, so that an index finds the open requests.
--
-- The answer is the last one that actions planned or sent after the request and before the outcome.
--
-- Readers: loader, exporter, actor, analyst.
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
    ended.signed_date IS NULL AND n.signed_date > now() - interval '12 hours' AS is_open,
    paid.price_milliunits * 0.001 AS price_amount,
    answer.state AS answer_state, answer.sent_at AS answer_sent_at, answer.job AS answer_job, answer.batch AS answer_batch,
    answer.policy_rule AS answer_policy_rule, answer.delivery_status AS answer_delivery_status,
    answer.consumption_percentage AS answer_consumption_percentage, answer.refund_preference AS answer_refund_preference,
    answer.apple_code AS answer_apple_code
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
LEFT JOIN LATERAL (
    SELECT a.state, a.first_sent_at AS sent_at, b.job, b.rows_sha256 AS batch,
           -- An input of the user's own can have a column of this name with any text.
           substring(a.input[array_position(b.input_columns, 'policy_rule')] FROM '^[0-9]{1,9}$')::integer AS policy_rule,
           a.parameters ->> 'delivery_status' AS delivery_status,
           (a.parameters ->> 'consumption_percentage')::integer AS consumption_percentage,
           a.parameters ->> 'refund_preference' AS refund_preference, a.apple_code
      FROM action_rows a JOIN action_batches b ON b.app_id = a.app_id AND b.batch_id = a.batch_id
     WHERE a.app_id = n.app_id AND a.subject = n.transaction_id AND a.verdict = 'valid' AND b.action = 'sendConsumptionInformation'
       AND coalesce(a.first_sent_at, b.planned_at) >= n.signed_date
       AND coalesce(a.first_sent_at, b.planned_at) <= coalesce(ended.signed_date, 'infinity')
     ORDER BY a.first_sent_at DESC NULLS LAST, b.planned_at DESC LIMIT 1
) answer ON true
WHERE n.notification_type = 'CONSUMPTION_REQUEST';
COMMENT ON VIEW consumption_requests IS
    'Apple''s CONSUMPTION_REQUEST notifications with their deadline, answer and outcome. Apple does not report whether it received consumption information, so the view knows only answers that storeledger actions sent.';
COMMENT ON COLUMN consumption_requests.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN consumption_requests.notification_uuid IS 'Apple''s notificationUUID of the request.';
COMMENT ON COLUMN consumption_requests.requested_at IS 'When Apple signed the request.';
COMMENT ON COLUMN consumption_requests.answer_until IS 'The deadline for consumption information: twelve hours after requested_at.';
COMMENT ON COLUMN consumption_requests.time_left IS 'The time from now to answer_until; zero after the deadline.';
COMMENT ON COLUMN consumption_requests.consumption_request_reason IS 'Apple''s consumptionRequestReason: why the customer requested a refund.';
COMMENT ON COLUMN consumption_requests.price_milliunits IS 'The price of the purchase in thousandths of a unit of currency, of all seats for a subscription with several seats.';
COMMENT ON COLUMN consumption_requests.outcome IS 'pending, refunded, declined, or reversed (refunded first).';
COMMENT ON COLUMN consumption_requests.decided_at IS 'When Apple signed the notification of the outcome. NULL while pending.';
COMMENT ON COLUMN consumption_requests.answer_state IS
    'What is known of the answer: planned, approved, sending, succeeded (Apple has it), rejected, confirming, unknown, or cancelled (not sent before the deadline); see action_rows. NULL without an answer.';
COMMENT ON COLUMN consumption_requests.answer_sent_at IS 'When the answer was first sent; NULL before.';
COMMENT ON COLUMN consumption_requests.answer_job IS 'The job that answered.';
COMMENT ON COLUMN consumption_requests.answer_batch IS 'The hash of the batch with the answer: action_batches.rows_sha256.';
COMMENT ON COLUMN consumption_requests.answer_policy_rule IS 'The number of the rule of the policy that decided, from 1. NULL for an answer without a policy.';
COMMENT ON COLUMN consumption_requests.answer_delivery_status IS 'The answer''s deliveryStatus; a number for version 1.';
COMMENT ON COLUMN consumption_requests.answer_consumption_percentage IS 'The answer''s consumptionPercentage, in thousandths of a percent; NULL if it has none.';
COMMENT ON COLUMN consumption_requests.answer_refund_preference IS 'The answer''s refundPreference: what the app would like Apple to decide; a number for version 1.';
COMMENT ON COLUMN consumption_requests.answer_apple_code IS 'Apple''s errorCode if it rejected the answer.';
COMMENT ON COLUMN consumption_requests.is_open IS 'Whether a response still counts: there is no decision and the deadline has not passed.';
