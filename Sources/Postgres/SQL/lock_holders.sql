-- The sessions that hold locks in a schema now, strongest locks first, and of open transactions those in this database before those in
-- others.
--
-- :schema        the schema of the tables and views
-- :table         only locks on this one; NULL for all
-- :with_readers  whether locks of readers count
-- :most          how many sessions at most
-- :transaction   only sessions with a transaction that is older than this one; NULL for locks on tables and views
WITH held AS (
    SELECT DISTINCT ON (l.pid) l.pid, l.mode, c.relname, s.strength
      FROM pg_locks l
      JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
      JOIN pg_class c ON c.oid = l.relation AND c.relkind IN ('r', 'p', 'v', 'm')
     CROSS JOIN LATERAL array_position(ARRAY['AccessShareLock', 'RowShareLock', 'RowExclusiveLock',
               'ShareUpdateExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock',
               'AccessExclusiveLock'], l.mode) AS s (strength)
     WHERE :transaction::text IS NULL AND l.granted AND l.pid <> pg_backend_pid()
       AND c.relnamespace = to_regnamespace(quote_ident(:schema::text))
       AND (:table::text IS NULL OR c.relname = :table) AND (s.strength > 1 OR :with_readers::boolean)
     ORDER BY l.pid, s.strength DESC, c.relname
), open AS (
    -- age() compares the short numbers of pg_locks across their wraparound.
    SELECT DISTINCT ON (l.pid) l.pid, l.mode, 'transaction ' || l.transactionid AS relname, 0 AS strength
      FROM pg_locks l
     WHERE l.locktype = 'transactionid' AND l.granted AND l.pid <> pg_backend_pid()
       AND age(l.transactionid) > age(:transaction::text::xid8::xid)
     ORDER BY l.pid, age(l.transactionid) DESC
)
SELECT h.pid, regexp_replace(coalesce(a.usename, ''), '[[:cntrl:]]', '?', 'g') AS usename,
       regexp_replace(coalesce(a.application_name, ''), '[[:cntrl:]]', '?', 'g') AS application_name,
       to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS since, h.mode, h.relname
  FROM (SELECT * FROM held UNION ALL SELECT * FROM open) h JOIN pg_stat_activity a ON a.pid = h.pid
 ORDER BY h.strength DESC, (a.datname = current_database()) IS NOT TRUE, a.xact_start NULLS LAST, h.pid
 LIMIT :most::integer
