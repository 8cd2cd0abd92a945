-- What keeps readers of the views from waiting, and makes figures right that earlier versions left wrong?

-- VACUUM shortens a table under a lock that readers wait for, and that ends queries on a replica. A refresh uses the space again.
DO $$
DECLARE
    filled regclass;
BEGIN
    FOR filled IN
        SELECT oid FROM pg_class
         WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ '^refresh_(stored_|.*_totals$)'
    LOOP
        EXECUTE format('ALTER TABLE %s SET (vacuum_truncate = off)', filled);
    END LOOP;
END $$;

-- A refresh while the clock was ahead, or a direct write to a partition, can have left wrong totals. The next refresh computes everything.
UPDATE refresh_state SET definitions = NULL;
