-- The snapshot of the next part, an ID and a moment for it; no row if the export was removed.
SELECT pg_current_snapshot()::text AS snapshot, gen_random_uuid()::text AS id,
       to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS moment
  FROM change_exports WHERE app_id = :app AND job = :job AND format = :format
