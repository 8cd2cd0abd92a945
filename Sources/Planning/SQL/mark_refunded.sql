-- Marks the customers of the REFUND notifications that were stored since the job last looked.
--
-- Rows are dated by the beginning of their transaction, so the reading begins :margin_milliseconds earlier: a transaction that
-- had begun by then may not have been visible.
UPDATE crawl_items i SET saw_revocation = true, refunds_due = true
  FROM (SELECT DISTINCT t.listed_transaction_id AS id
          FROM notifications n
          JOIN transactions t ON t.app_id = n.app_id AND t.original_transaction_id = n.original_transaction_id
         WHERE n.app_id = :app AND n.notification_type = 'REFUND' AND t.listed_transaction_id IS NOT NULL
           AND n.first_seen_at >= coalesce((SELECT max(r.refunds_followed_until) FROM runs r WHERE r.app_id = :app AND r.job = :job),
                                           '-infinity') - :margin_milliseconds::bigint * interval '1 millisecond') refunded
 WHERE i.app_id = :app AND i.job = :job AND i.stream = ANY (:streams::text[]) AND i.item_key = refunded.id
   AND NOT (i.saw_revocation AND i.refunds_due)
