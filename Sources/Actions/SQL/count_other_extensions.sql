-- Requests of other rows that may have extended the row's subscription since its batch was planned: of this subscription alone, or of all
-- subscribers of a product.
SELECT count(*) AS requests
  FROM action_rows o JOIN action_batches b ON b.app_id = o.app_id AND b.batch_id = o.batch_id
 WHERE o.app_id = :app AND o.batch_id <> :batch AND (o.state = 'succeeded' OR o.may_be_applied)
   AND (b.action = :action AND o.subject = :subject OR b.action = :action_of_all)
   -- A request whose outcome is not known can be applied some time after it was sent.
   AND coalesce(o.ended_at, o.last_sent_at + interval '1 hour')
       > (SELECT planned_at FROM action_batches p WHERE p.app_id = :app AND p.batch_id = :batch)
