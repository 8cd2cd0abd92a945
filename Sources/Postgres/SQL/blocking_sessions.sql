-- The sessions of others that block sessions of this process, each with the longest wait behind it. Of a statement only its first word is
-- read, because the rest can have customers' data.
--
-- :own      the process IDs of this process's sessions, as the text of an array
-- :seconds  how long a session must have waited
-- :most     how many sessions at most
SELECT DISTINCT ON (b.pid) b.pid::bigint AS pid,
       coalesce(c.relname, 'a row of ' || t.relname, 'a ' || w.locktype) AS what,
       floor(extract(epoch FROM clock_timestamp() - w.waitstart))::bigint AS seconds,
       regexp_replace(coalesce(a.usename, ''), '[[:cntrl:]]', '?', 'g') AS usename,
       regexp_replace(coalesce(a.application_name, ''), '[[:cntrl:]]', '?', 'g') AS application_name,
       a.state, upper(substring(a.query FROM '^\s*([A-Za-z]{1,20})')) AS command,
       to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') AS since
  FROM pg_locks w
 CROSS JOIN LATERAL unnest(pg_blocking_pids(w.pid)) AS b (pid)
  LEFT JOIN pg_class c ON c.oid = w.relation
   AND w.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  -- Who waits for a row holds a lock on its place, and waits for the transaction that has changed it.
  LEFT JOIN LATERAL (SELECT r.relname FROM pg_locks l JOIN pg_class r ON r.oid = l.relation
                      WHERE l.pid = w.pid AND l.locktype = 'tuple' AND l.granted LIMIT 1) t ON true
  LEFT JOIN pg_stat_activity a ON a.pid = b.pid
 WHERE NOT w.granted AND w.pid = ANY (:own::text::integer[]) AND NOT b.pid = ANY (:own::text::integer[])
   AND w.waitstart < clock_timestamp() - :seconds::bigint * interval '1 second'
 ORDER BY b.pid, w.waitstart
 LIMIT :most::integer
