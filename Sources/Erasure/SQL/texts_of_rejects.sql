-- The next texts of rejected records, which can contain IDs, in the order of `key`.
--
-- :after  the last key of the texts before; empty text at first
SELECT record_id::text AS key, raw AS text, convert_to(detail, 'UTF8') AS detail FROM rejected_records
 WHERE app_id = :app AND record_id > coalesce(nullif(:after::text, ''), '0')::bigint ORDER BY record_id LIMIT 50
