-- The statements that replace an empty table by one with hash partitions, in their order.
--
-- The new table has everything that migrations have given the plain one: columns, defaults, constraints, indexes, triggers,
-- comments, privileges, owner and statistics targets. Its partitions are called like the table, with _p0, _p1 and so on.
-- The definitions are read from the catalog, so this file does not change with the columns.
--
-- :name        the table; no view may read it
-- :key         the column by whose hash a row finds its partition; it is in every unique index
-- :partitions  how many
WITH source AS (
    SELECT c.*, c.oid::regclass AS place, quote_ident(:name::text) AS called, :partitions::integer AS partitions
      FROM pg_class c WHERE c.oid = to_regclass(quote_ident(:name))
), part AS (
    SELECT quote_ident(format('%s_p%s', :name, n)) AS called, n FROM source, generate_series(0, partitions - 1) n
), step (position, detail, statement) AS (
    SELECT 1, 0, format('ALTER TABLE %s RENAME TO plain_table', called) FROM source
     UNION ALL
    SELECT 2, 0, format('CREATE TABLE %s (LIKE plain_table INCLUDING ALL EXCLUDING INDEXES) PARTITION BY HASH (%I)', called, :key::text)
      FROM source
     UNION ALL
    SELECT 3, 0, 'DROP TABLE plain_table'
     UNION ALL
    SELECT 4, n, format('CREATE TABLE %s PARTITION OF %s FOR VALUES WITH (MODULUS %s, REMAINDER %s)', p.called, s.called, s.partitions, n)
                 || coalesce(' WITH (' || array_to_string(s.reloptions, ', ') || ')', '')
      FROM source s, part p
     UNION ALL
    SELECT 5, n, format('COMMENT ON TABLE %s IS %L', p.called, format('A hash partition of %s.', :name))
      FROM source s, part p
     UNION ALL
    SELECT 6, x.oid::bigint, format('ALTER TABLE %s ADD CONSTRAINT %I %s', s.called, x.conname, pg_get_constraintdef(x.oid))
      FROM source s JOIN pg_constraint x ON x.conrelid = s.oid WHERE x.contype IN ('p', 'u', 'f', 'x')
     UNION ALL
    SELECT 7, x.indexrelid::bigint, pg_get_indexdef(x.indexrelid)
      FROM source s JOIN pg_index x ON x.indrelid = s.oid
     WHERE NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = x.indexrelid AND c.conrelid = s.oid)
     UNION ALL
    SELECT 8, t.oid::bigint, pg_get_triggerdef(t.oid)
      FROM source s JOIN pg_trigger t ON t.tgrelid = s.oid WHERE NOT t.tgisinternal
     UNION ALL
    SELECT 9, t.oid::bigint, format('ALTER TABLE %s %s TRIGGER %I', s.called,
                            CASE t.tgenabled WHEN 'A' THEN 'ENABLE ALWAYS' WHEN 'R' THEN 'ENABLE REPLICA' ELSE 'DISABLE' END, t.tgname)
      FROM source s JOIN pg_trigger t ON t.tgrelid = s.oid WHERE NOT t.tgisinternal AND t.tgenabled <> 'O'
     UNION ALL
    SELECT 10, a.attnum, format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS %s', s.called, a.attname, a.attstattarget)
      FROM source s JOIN pg_attribute a ON a.attrelid = s.oid
     WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attstattarget >= 0
     UNION ALL
    SELECT 11, 0, format('COMMENT ON TABLE %s IS %L', called, obj_description(oid, 'pg_class')) FROM source
     UNION ALL
    SELECT 12, 0, format('ALTER TABLE %s OWNER TO %I', t.called, pg_get_userbyid(s.relowner))
      FROM source s, (SELECT called FROM source UNION ALL SELECT called FROM part) t
     UNION ALL
    SELECT 13, 0, format('GRANT %s ON TABLE %s TO %s', g.privilege_type, s.called,
                         CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END)
      FROM source s, aclexplode(s.relacl) g WHERE g.grantee <> s.relowner
     UNION ALL
    SELECT 14, a.attnum, format('GRANT %s (%I) ON TABLE %s TO %s', g.privilege_type, a.attname, s.called,
                                CASE g.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END)
      FROM source s JOIN pg_attribute a ON a.attrelid = s.oid, aclexplode(a.attacl) g WHERE g.grantee <> s.relowner
)
SELECT statement FROM step WHERE statement IS NOT NULL ORDER BY position, detail, statement
