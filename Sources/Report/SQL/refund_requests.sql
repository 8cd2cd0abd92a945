-- Refund requests by month and outcome.
SELECT to_char(month, 'YYYY-MM') AS month, sum(refunded) AS refunded, sum(declined) AS declined, sum(reversed) AS reversed,
       sum(pending) AS pending, sum(requests) AS requests, sum(refunded_without_request) AS refunded_without_request,
       sum(declined_without_request) AS declined_without_request
  FROM refund_requests_by_month v WHERE app_id = :app GROUP BY v.month ORDER BY v.month DESC
