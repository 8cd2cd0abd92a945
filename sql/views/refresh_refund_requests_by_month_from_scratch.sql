-- What does refund_requests_by_month show when it is computed from every record?
--
-- storeledger refresh --verify compares the two. Both have the columns of refund_requests_by_month.
CREATE OR REPLACE VIEW refresh_refund_requests_by_month_from_scratch AS
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
FROM (
    SELECT app_id, date_trunc('month', requested_at AT TIME ZONE 'UTC')::date AS month, product_id, storefront, currency,
           true AS is_request, outcome, price_milliunits, decided_at - requested_at AS delay
      FROM consumption_requests WHERE requested_at IS NOT NULL
    UNION ALL
    SELECT n.app_id, date_trunc('month', n.signed_date AT TIME ZONE 'UTC')::date, coalesce(n.product_id, t.product_id), t.storefront, t.currency,
           false, CASE n.notification_type WHEN 'REFUND' THEN 'refunded' ELSE 'declined' END, NULL, NULL
      FROM notifications n
      LEFT JOIN transactions t ON t.app_id = n.app_id AND t.transaction_id = n.transaction_id
     WHERE n.notification_type IN ('REFUND', 'REFUND_DECLINED') AND n.signed_date IS NOT NULL
       AND NOT EXISTS (SELECT FROM notifications q
                        WHERE q.app_id = n.app_id AND q.transaction_id = n.transaction_id
                          AND q.notification_type = 'CONSUMPTION_REQUEST' AND q.signed_date <= n.signed_date)
) asked
GROUP BY app_id, month, product_id, storefront, currency;
