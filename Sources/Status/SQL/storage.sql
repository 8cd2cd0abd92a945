-- The size of each table of the schema with its indexes and TOAST data, largest first. The partitions of a table count as the table.
SELECT coalesce(p.relname, c.relname)::text AS "table", sum(pg_total_relation_size(c.oid))::bigint AS bytes
  FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent
 WHERE c.relnamespace = to_regnamespace(quote_ident(current_schema())) AND c.relkind = 'r'
 GROUP BY 1 HAVING sum(pg_total_relation_size(c.oid)) > 0
 ORDER BY 2 DESC, 1
