-- Marks the customers in whose history rejected records came, so that a run requests their refunds.
--
-- A stream of refunds cannot make refunds due. A record can belong to the app in another environment than the item.
UPDATE crawl_items i SET saw_revocation = true, refunds_due = (i.stream <> ALL (:refund_streams::text[]))
  FROM rejected_records r
 WHERE r.app_id = :app AND r.record_id = ANY (:records::text[]::bigint[])
   AND i.app_id IN (SELECT a.app_id FROM apps own JOIN apps a USING (bundle_id) WHERE own.app_id = :app)
   AND i.job = r.job AND i.stream = r.stream AND i.item_key = r.item_key
