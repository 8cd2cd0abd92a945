-- Moves an item on by one page, if this process still has its lease; the row count says whether it did. The row says whether
-- the item has ended with rejected records of earlier runs.
--
-- The condition is written so that the planner cannot use the index of leases and always finds the item by its primary key.
UPDATE crawl_items SET
    page_seq = page_seq + 1,
    page_count = page_count + 1,
    cursor = :cursor,
    request_count = request_count + :requests::integer,
    rows_new = rows_new + :rows_new::integer,
    rows_updated = rows_updated + :rows_updated::integer,
    rows_unchanged = rows_unchanged + :rows_unchanged::integer,
    records_rejected = records_rejected + :rejected::integer,
    records_withheld = records_withheld + :withheld::integer,
    saw_revocation = saw_revocation OR :saw_revocation::boolean,
    -- A stream of refunds cannot make refunds due.
    refunds_due = refunds_due OR (saw_revocation OR :saw_revocation) AND NOT :brings_refunds::boolean,
    state = CASE WHEN :is_last::boolean THEN 'done' ELSE state END,
    claimable_at = CASE WHEN :is_last THEN NULL ELSE claimable_at END,
    lease_owner = CASE WHEN :is_last THEN NULL ELSE lease_owner END,
    finished_at = CASE WHEN :is_last THEN clock_timestamp() ELSE finished_at END,
    complete_until = coalesce(:complete_until::timestamptz, complete_until),
    error_code = NULL,
    error_message = NULL
 WHERE app_id = :app AND job = :job AND stream = :stream AND item_key = :item_key
   AND lease_epoch = :epoch AND page_seq = :page_seq
   AND state || '' = 'leased' AND lease_owner IS NOT DISTINCT FROM :owner
RETURNING :is_last AND EXISTS (
    SELECT FROM rejected_records r
     WHERE r.item_key = crawl_items.item_key AND r.app_id IN (crawl_items.app_id, :records_app)
       AND r.job = crawl_items.job AND r.stream = crawl_items.stream AND r.run_id < crawl_items.run_id
       AND r.resolved_at IS NULL AND r.dismissed_at IS NULL) AS has_earlier_rejects
