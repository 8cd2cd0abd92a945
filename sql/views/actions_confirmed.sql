-- Which requests that change something does Apple's data confirm, and after how long?
--
-- seen_at is the signing date of the first record that shows the effect, by Apple's clock:
--   extendRenewalDate           the RENEWAL_EXTENDED notification of the subscription after the request; expires_date_later says
--                               whether a transaction of the subscription has a later expiresDate than the plan knew
--   extendRenewalDatesForAll    the RENEWAL_EXTENSION notification with subtype SUMMARY and the ID of the request. Apple's status, the SUMMARY and
--                               the notifications of the single subscriptions must have the same counts: counts_agree. A notification of a
--                               subscription does not name the request, so all notifications of the product and storefronts up to the
--                               SUMMARY are counted
--   setAppAccountToken          a transaction of the purchase with the token, signed after the request
--   sendConsumptionInformation  the REFUND or REFUND_DECLINED notification of the purchase after the answer
--   requestTransactionRefund    the same; Apple decides after the answer
--   the other calls of Advanced Commerce
--                               the first notification that Apple sends for the call, such as PRICE_CHANGE, or the renewal info with the
--                               ID of the request
-- Five minutes allow for the difference between two clocks.
--
-- Readers: loader, exporter, actor, analyst.
CREATE OR REPLACE VIEW actions_confirmed AS
SELECT
    r.app_id, b.job, b.action, b.rows_sha256 AS batch, r.position, r.subject, r.state,
    r.first_sent_at AS sent_at, r.ended_at AS answered_at, seen.seen_at, seen.seen_in,
    seen.seen_at - r.first_sent_at AS seen_after,
    CASE WHEN b.action = 'extendRenewalDate' THEN EXISTS (
        SELECT FROM transactions t WHERE t.app_id = r.app_id AND t.original_transaction_id = r.subject
           AND t.expires_date > r.expires_date_before) END AS expires_date_later,
    (r.answer ->> 'succeededCount')::bigint AS apple_succeeded, (r.answer ->> 'failedCount')::bigint AS apple_failed,
    seen.summary_succeeded, seen.summary_failed,
    CASE WHEN b.action = 'sendConsumptionInformation' THEN (
        SELECT count(*) FROM notifications n WHERE n.app_id = r.app_id AND n.transaction_id = r.subject
           AND n.notification_type = 'CONSUMPTION_REQUEST' AND n.signed_date > r.ended_at) END AS further_requests,
    own.extended AS notified_succeeded, own.failed AS notified_failed,
    seen.summary_succeeded = own.extended AND seen.summary_failed = own.failed
        AND (r.answer ->> 'succeededCount')::bigint = own.extended AND (r.answer ->> 'failedCount')::bigint = own.failed AS counts_agree,
    b.occurrence,
    -- Without what can name a customer, such as appAccountToken.
    (SELECT nullif(jsonb_object_agg(wanted.key, wanted.value), '{}')::text FROM jsonb_each(r.parameters) wanted
      WHERE wanted.key IN ('extend_by_days', 'extend_reason_code', 'storefront_country_codes', 'items', 'refund_type', 'refund_reason')) AS requested
FROM action_rows r
JOIN action_batches b ON b.app_id = r.app_id AND b.batch_id = r.batch_id
LEFT JOIN LATERAL (
    (SELECT n.signed_date AS seen_at, 'RENEWAL_EXTENDED notification' AS seen_in, NULL::bigint AS summary_succeeded, NULL::bigint AS summary_failed
       FROM notifications n
      WHERE b.action = 'extendRenewalDate' AND n.app_id = r.app_id AND n.original_transaction_id = r.subject
        AND n.notification_type = 'RENEWAL_EXTENDED' AND n.signed_date >= r.first_sent_at - interval '5 minutes'
      ORDER BY n.signed_date LIMIT 1)
    UNION ALL
    (SELECT n.signed_date, 'RENEWAL_EXTENSION notification, SUMMARY', n.summary_succeeded_count, n.summary_failed_count
       FROM notifications n
      WHERE b.action = 'extendRenewalDatesForAll' AND n.app_id = r.app_id AND n.notification_type = 'RENEWAL_EXTENSION'
        AND n.summary_request_identifier = r.request_id::text
      ORDER BY n.signed_date LIMIT 1)
    UNION ALL
    (SELECT t.signed_date, 'appAccountToken of transaction ' || t.transaction_id, NULL, NULL
       FROM transactions t
      WHERE b.action = 'setAppAccountToken' AND t.app_id = r.app_id AND t.original_transaction_id = r.subject
        AND t.app_account_token = (r.parameters ->> 'app_account_token')::uuid AND t.signed_date >= r.first_sent_at - interval '5 minutes'
      ORDER BY t.signed_date LIMIT 1)
    UNION ALL
    (SELECT n.signed_date, n.notification_type || ' notification', NULL, NULL
       FROM notifications n
      WHERE b.action IN ('sendConsumptionInformation', 'requestTransactionRefund')
        AND n.app_id = r.app_id AND n.transaction_id = r.subject
        AND n.notification_type IN ('REFUND', 'REFUND_DECLINED') AND n.signed_date >= r.first_sent_at - interval '5 minutes'
      ORDER BY n.signed_date LIMIT 1)
    UNION ALL
    (SELECT c.seen_at, c.seen_in, NULL, NULL
       FROM (SELECT n.signed_date AS seen_at, n.notification_type || ' notification' AS seen_in
               FROM notifications n
              WHERE b.action IN ('cancelSubscription', 'changeSubscriptionMetadata', 'changeSubscriptionPrice', 'migrateSubscription',
                                 'revokeSubscription')
                AND n.app_id = r.app_id AND n.original_transaction_id = r.subject
                AND n.signed_date >= r.first_sent_at - interval '5 minutes'
                AND CASE b.action
                        WHEN 'cancelSubscription' THEN n.notification_type = 'DID_CHANGE_RENEWAL_STATUS' AND n.subtype = 'AUTO_RENEW_DISABLED'
                        WHEN 'changeSubscriptionMetadata' THEN n.notification_type = 'METADATA_UPDATE'
                        WHEN 'changeSubscriptionPrice' THEN n.notification_type = 'PRICE_CHANGE'
                        WHEN 'migrateSubscription' THEN n.notification_type IN ('MIGRATION', 'MIGRATE')
                        ELSE n.notification_type IN ('REFUND', 'REFUND_DECLINED') END
             UNION ALL
             SELECT w.signed_date, 'requestReferenceId of the renewal info'
               FROM renewals w
              WHERE b.action IN ('cancelSubscription', 'changeSubscriptionMetadata', 'changeSubscriptionPrice', 'migrateSubscription',
                                 'revokeSubscription')
                AND w.app_id = r.app_id AND w.original_transaction_id = r.subject
                AND lower(w.advanced_commerce_request_reference_id) = r.request_id::text) c
      ORDER BY c.seen_at LIMIT 1)
) seen ON r.subject IS NOT NULL
LEFT JOIN LATERAL (
    SELECT count(DISTINCT n.original_transaction_id) FILTER (WHERE n.notification_type = 'RENEWAL_EXTENDED') AS extended,
           count(DISTINCT n.original_transaction_id) FILTER (WHERE n.notification_type = 'RENEWAL_EXTENSION') AS failed
      FROM notifications n
     WHERE n.app_id = r.app_id AND n.product_id = r.subject
       AND (n.notification_type = 'RENEWAL_EXTENDED' OR n.notification_type = 'RENEWAL_EXTENSION' AND n.subtype = 'FAILURE')
       AND n.signed_date BETWEEN r.first_sent_at - interval '5 minutes' AND seen.seen_at
       AND (r.parameters -> 'storefront_country_codes' IS NULL
            OR EXISTS (SELECT FROM transactions t WHERE t.app_id = n.app_id AND t.transaction_id = n.transaction_id
                          AND r.parameters -> 'storefront_country_codes' ? t.storefront))
    -- The planner tests a condition without columns of n first, so rows of other actions read no notification.
    HAVING b.action = 'extendRenewalDatesForAll' AND seen.seen_at IS NOT NULL
) own ON true
WHERE r.first_sent_at IS NOT NULL;
COMMENT ON VIEW actions_confirmed IS
    'The requests that change something and were sent, with what the crawls have brought since: sent, answered, seen in Apple''s data, and after how long.';
COMMENT ON COLUMN actions_confirmed.app_id IS 'The app in one environment; see masked_apps.';
COMMENT ON COLUMN actions_confirmed.job IS 'The name of the job.';
COMMENT ON COLUMN actions_confirmed.action IS 'The key of the action in the job file.';
COMMENT ON COLUMN actions_confirmed.batch IS 'The hash of the batch, as in actions_by_batch.';
COMMENT ON COLUMN actions_confirmed.position IS 'The position of the row in its batch.';
COMMENT ON COLUMN actions_confirmed.subject IS 'The ID of the subscription, transaction or product that the row changes. NULL if the action has none, and after an erasure.';
COMMENT ON COLUMN actions_confirmed.state IS 'What is known of the row: sending (a request is under way, or its process was killed), confirming (an unknown outcome is being found out), succeeded (Apple applied it), rejected (Apple refused it), unknown (Apple may have applied it), not_applied (Apple''s data shows that it was not applied) or cancelled (no further request is sent).';
COMMENT ON COLUMN actions_confirmed.sent_at IS 'When the first request of the row was sent.';
COMMENT ON COLUMN actions_confirmed.answered_at IS 'When the outcome was recorded; NULL before.';
COMMENT ON COLUMN actions_confirmed.seen_at IS 'When Apple signed the first record that shows the effect; NULL before a crawl brings one.';
COMMENT ON COLUMN actions_confirmed.seen_in IS 'The record that shows the effect.';
COMMENT ON COLUMN actions_confirmed.seen_after IS 'The time from sent_at to seen_at.';
COMMENT ON COLUMN actions_confirmed.expires_date_later IS 'For extendRenewalDate: whether a transaction of the subscription has a later expiresDate than when the batch was planned.';
COMMENT ON COLUMN actions_confirmed.apple_succeeded IS 'For extendRenewalDatesForAll: the extended subscriptions, by Apple''s answer.';
COMMENT ON COLUMN actions_confirmed.apple_failed IS 'For extendRenewalDatesForAll: the subscriptions that were not extended, by Apple''s answer.';
COMMENT ON COLUMN actions_confirmed.summary_succeeded IS 'For extendRenewalDatesForAll: the extended subscriptions, by the SUMMARY notification.';
COMMENT ON COLUMN actions_confirmed.summary_failed IS 'For extendRenewalDatesForAll: the subscriptions that were not extended, by the SUMMARY notification.';
COMMENT ON COLUMN actions_confirmed.further_requests IS 'For sendConsumptionInformation: the CONSUMPTION_REQUEST notifications of the purchase after the answer.';
COMMENT ON COLUMN actions_confirmed.notified_succeeded IS
    'For extendRenewalDatesForAll: the subscriptions of the product, and of the requested storefronts, with a RENEWAL_EXTENDED notification from the request to the SUMMARY. NULL before the SUMMARY.';
COMMENT ON COLUMN actions_confirmed.notified_failed IS
    'For extendRenewalDatesForAll: those with a RENEWAL_EXTENSION notification of subtype FAILURE, counted in the same way.';
COMMENT ON COLUMN actions_confirmed.counts_agree IS
    'For extendRenewalDatesForAll: whether Apple''s answer, the SUMMARY and the notifications of the subscriptions have the same counts. False also while a crawl has not brought all notifications, and after another extension of the product at the same time. NULL before Apple is done.';
COMMENT ON COLUMN actions_confirmed.occurrence IS 'The number of earlier batches of the app with the same hash.';
COMMENT ON COLUMN actions_confirmed.requested IS
    'What was requested, as JSON with the names of the columns of the input: the days and the reason of an extension, the items with their prices, the kind and reason of a refund. NULL if the action has none of these, and after an erasure.';
