-- The tables of which each partition, or the table itself, has at least :bytes bytes.
SELECT c.relname FROM pg_class c
  LEFT JOIN pg_inherits i ON i.inhparent = c.oid
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND c.relname = ANY (:tables::text[])
 GROUP BY c.relname HAVING min(pg_relation_size(coalesce(i.inhrelid, c.oid))) >= :bytes
