-- The tables and views of the schema with their columns, by name and place: kind, key, types and comments, from the catalog.
SELECT c.relname AS name,
       CASE c.relkind WHEN 'v' THEN 'view' ELSE 'table' END AS kind,
       coalesce(obj_description(c.oid, 'pg_class'), '') AS comment,
       coalesce((SELECT string_agg(k.attname, ', ' ORDER BY array_position(x.indkey::int2[], k.attnum))
                   FROM pg_index x
                   JOIN pg_attribute k ON k.attrelid = c.oid AND k.attnum = ANY (x.indkey::int2[])
                  WHERE x.indrelid = c.oid AND x.indisprimary),
                array_to_string((SELECT row_key FROM schema_views v WHERE v.name = c.relname), ', ')) AS key,
       a.attname AS column, format_type(a.atttypid, a.atttypmod) AS type,
       coalesce(col_description(c.oid, a.attnum), '') AS meaning
  FROM pg_class c
  LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p', 'v')
   AND NOT c.relispartition
 ORDER BY c.relname COLLATE "C", a.attnum
