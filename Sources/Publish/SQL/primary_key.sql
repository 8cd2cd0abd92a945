-- The columns of the primary key of a table, in their order.
SELECT a.attname::text AS name, format_type(a.atttypid, NULL) AS type
  FROM pg_index x JOIN pg_attribute a ON a.attrelid = x.indrelid AND a.attnum = ANY (x.indkey)
 WHERE x.indrelid = to_regclass(:table::text) AND x.indisprimary
 ORDER BY array_position(x.indkey::smallint[], a.attnum)
