-- What Apple's SUMMARY notification says about a request that extends the renewal dates of all subscribers of a product.
SELECT json_build_object('completeDate', floor(extract(epoch FROM signed_date) * 1000)::bigint,
                         'succeededCount', summary_succeeded_count, 'failedCount', summary_failed_count)::text AS counts
  FROM notifications
 WHERE app_id = :app AND notification_type = 'RENEWAL_EXTENSION' AND subtype = 'SUMMARY'
   AND summary_request_identifier = :request ORDER BY signed_date LIMIT 1
