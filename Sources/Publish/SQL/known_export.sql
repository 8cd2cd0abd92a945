-- An export of changes that was begun, and locks it: its last part, the one that was announced, and whether it continues.
--
-- It continues with the same server and tables, if the transaction that began it is over.
SELECT part::text AS part, snapshot::text AS snapshot, next_part::text AS next_part,
       server = ledger_server() AND tables = :tables::text[] AND started_in < pg_current_xact_id() AS continues
  FROM change_exports WHERE app_id = :app AND job = :job AND format = :format FOR UPDATE
