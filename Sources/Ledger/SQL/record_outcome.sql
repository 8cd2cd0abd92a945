-- Records the outcome of an item whose page could not be fetched, and ends its lease; the row count says whether this process still
-- held the item.
--
-- :change stands for the assignments of the outcome. Some of them use :detail. PostgreSQL refuses a parameter that a statement does not
-- name, so the condition names it too.
UPDATE crawl_items SET :change, lease_owner = NULL, error_code = :code, error_message = :message,
       request_count = request_count + :requests::integer
 WHERE app_id = :app AND job = :job AND stream = :stream AND item_key = :item_key
   AND lease_epoch = :epoch AND state = 'leased' AND lease_owner = :owner AND :detail::text IS NOT NULL
