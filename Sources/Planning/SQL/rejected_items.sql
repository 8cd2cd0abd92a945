-- A part of statements: the streams and keys of a job's items with rejected records that were neither loaded nor dismissed.
--
-- Each run reads such an item again from its first page, because Apple may send the record intact now. When the reading ends, it
-- resolves the rejects of earlier runs (resolve_rejects.sql).
SELECT r.stream, r.item_key FROM apps own JOIN apps a USING (bundle_id) JOIN rejected_records r ON r.app_id = a.app_id
 WHERE own.app_id = :app::integer AND r.job = :job::text AND r.resolved_at IS NULL AND r.dismissed_at IS NULL
