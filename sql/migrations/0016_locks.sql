-- Which locks keep the ledger's own work apart, that no role which only reads can take?
--
-- An advisory lock is open to everybody who may connect, whatever its key. LOCK TABLE in any mode but ACCESS SHARE, and
-- SELECT ... FOR UPDATE, need a right to write to the table. So each lock is a table of its own: one that is empty and is
-- never written, or a row of jobs. migration_lock is made by the migrator itself, because it is needed before any migration.

CREATE UNLOGGED TABLE erasure_lock ();
COMMENT ON TABLE erasure_lock IS
    'Always empty: pages, plans and replays lock it in ROW SHARE mode, an erasure in EXCLUSIVE mode, so that no row slips past an erasure.';

CREATE UNLOGGED TABLE refresh_lock ();
COMMENT ON TABLE refresh_lock IS
    'Always empty: a refresh of the materialised views locks it in EXCLUSIVE mode, so that one session at a time refreshes.';

CREATE TABLE jobs (
    app_id integer NOT NULL REFERENCES apps,
    job text NOT NULL,
    first_run_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (app_id, job)
);
COMMENT ON TABLE jobs IS 'The jobs that have begun a run; the row is locked while a process begins, joins or retries one.';
COMMENT ON COLUMN jobs.app_id IS 'The app, in apps.';
COMMENT ON COLUMN jobs.job IS 'The job''s name.';
COMMENT ON COLUMN jobs.first_run_at IS 'When its first run began.';
INSERT INTO jobs (app_id, job, first_run_at) SELECT app_id, job, min(started_at) FROM runs GROUP BY app_id, job;

-- Holds off erasures until the end of the transaction, then says whether a customer of the app was ever erased.
--
-- Lock first, then look: the second statement sees what an erasure committed that the first one waited for. An erasure
-- takes the same lock for itself alone, so a record is either there when the erasure looks, or meets its tombstone. The
-- caller may have no limit for locks, so the function has its own.
CREATE OR REPLACE FUNCTION erasure_key(p_app_id integer) RETURNS bytea LANGUAGE plpgsql
SET search_path FROM CURRENT SET lock_timeout = '30s' AS $$
BEGIN
    LOCK TABLE erasure_lock IN ROW SHARE MODE;
    RETURN (SELECT k.key FROM erasure_keys k WHERE k.app_id = p_app_id);
END $$;
COMMENT ON FUNCTION erasure_key IS 'Holds off erasures for this transaction; the app''s tombstone key, or NULL when no customer was erased.';

-- What the runs have filed of changed rows, as one text that differs when they file more.
--
-- A refresh stores it beside each view, read in its own snapshot. Comparing it later is exact, where comparing moments is
-- not: a run is finished at a moment, and seen by others only with its COMMIT, a little later.
CREATE FUNCTION filed_changes() RETURNS text LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT format('%s runs, %s rows, until %s', count(*), coalesce(sum(rows_new + rows_updated), 0), extract(epoch FROM max(finished_at)))
      FROM runs WHERE rows_new + rows_updated > 0
$$;
COMMENT ON FUNCTION filed_changes IS 'What the runs have filed of changed rows, as one text that differs when they file more.';

ALTER TABLE schema_views ADD COLUMN filed_changes text;
COMMENT ON COLUMN schema_views.filed_changes IS
    'What the runs had filed of changed rows in the snapshot of the last refresh; see the function of the same name.';

-- As in 0013, with the lock of a table in place of an advisory one. Who wants the snapshot to be of after the wait takes
-- the same lock before, as the first statement of a REPEATABLE READ transaction.
CREATE OR REPLACE FUNCTION refresh_views(only_empty boolean DEFAULT false)
RETURNS TABLE (view_name text, view_rows bigint, milliseconds bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = on SET enable_hashjoin = on SET enable_mergejoin = on SET jit = off SET work_mem = '64MB'
SET default_statistics_target = 10 SET lock_timeout = '10min' AS $$
DECLARE
    began     timestamptz;
    populated boolean;
    is_filled boolean := false;
    changes   text;
BEGIN
    LOCK TABLE refresh_lock IN EXCLUSIVE MODE;
    changes := filed_changes();
    FOR view_name, populated IN
        SELECT c.relname::text, c.relispopulated
          FROM schema_views v
          JOIN pg_class c ON c.relname = v.name AND c.relkind = 'm' AND c.relnamespace = current_schema()::regnamespace
         WHERE v.is_materialized AND NOT (only_empty AND c.relispopulated)
         ORDER BY v.position
    LOOP
        IF NOT is_filled THEN
            PERFORM keep_for_refresh('subscription_periods');
            PERFORM keep_for_refresh('subscription_months');
            PERFORM keep_for_refresh('current_subscriptions');
            PERFORM keep_for_refresh('purchases');
            is_filled := true;
        END IF;
        began := clock_timestamp();
        EXECUTE format('REFRESH MATERIALIZED VIEW %s %I', CASE WHEN populated THEN 'CONCURRENTLY' END, view_name);
        EXECUTE format('SELECT count(*) FROM %I', view_name) INTO view_rows;
        milliseconds := extract(epoch FROM clock_timestamp() - began) * 1000;
        UPDATE schema_views v
           SET refreshed_at = now(), refresh_milliseconds = milliseconds, row_count = view_rows, filed_changes = changes
         WHERE v.name = view_name;
        RETURN NEXT;
    END LOOP;
    BEGIN
        -- Gives the room back at once. A backup that reads the database meanwhile is not waited for.
        LOCK TABLE kept_subscription_periods, kept_subscription_months, kept_current_subscriptions, kept_purchases
            IN ACCESS EXCLUSIVE MODE NOWAIT;
        TRUNCATE kept_subscription_periods, kept_subscription_months, kept_current_subscriptions, kept_purchases;
    EXCEPTION WHEN lock_not_available THEN
        DELETE FROM kept_subscription_periods;
        DELETE FROM kept_subscription_months;
        DELETE FROM kept_current_subscriptions;
        DELETE FROM kept_purchases;
    END;
END $$;

-- The new tables belong to the ledger's owner, although a superuser may be the one who migrates. The rights to the locks go
-- to the roles that do the work now: they work on without sql/roles.sql having run again. And functions that run with the
-- owner's rights, and lock with them, are no longer open to PUBLIC, as they are by default.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE %s OWNER TO %I', c.oid::regclass, pg_get_userbyid(runs.relowner))
          FROM pg_class c JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> c.relowner
         WHERE c.oid IN ('erasure_lock'::regclass, 'refresh_lock'::regclass, 'jobs'::regclass)
    LOOP
        EXECUTE statement;
    END LOOP;
    FOR statement IN
        WITH granted AS (
            SELECT c.relname AS name, a.privilege_type AS privilege, a.grantee
              FROM pg_class c, aclexplode(c.relacl) a
             WHERE c.relnamespace = current_schema()::regnamespace AND a.grantee <> c.relowner AND a.grantee <> 0
            UNION ALL
            SELECT p.proname, a.privilege_type, a.grantee
              FROM pg_proc p, aclexplode(p.proacl) a
             WHERE p.pronamespace = current_schema()::regnamespace AND a.grantee <> p.proowner AND a.grantee <> 0
        ), work (does, name, privilege) AS (
            VALUES ('load', 'runs', 'INSERT'), ('erase', 'transactions', 'DELETE'), ('mark', 'erased_marks', 'INSERT'),
                   ('refresh', 'refresh_views', 'EXECUTE'), ('refresh', 'runs', 'INSERT'), ('refresh', 'transactions', 'DELETE')
        ), wanted (does, rights) AS (
            VALUES ('mark', 'UPDATE ON TABLE erasure_lock'), ('refresh', 'UPDATE ON TABLE refresh_lock'),
                   ('load', 'SELECT, INSERT, UPDATE ON TABLE jobs'), ('load', 'EXECUTE ON FUNCTION filed_changes()'),
                   ('load', 'EXECUTE ON FUNCTION analyze_crawl_items()'),
                   ('refresh', 'EXECUTE ON FUNCTION analyze_grown_tables()'), ('refresh', 'EXECUTE ON FUNCTION refresh_views(boolean)')
        )
        SELECT DISTINCT format('GRANT %s TO %I', rights, pg_get_userbyid(grantee))
          FROM granted JOIN work USING (name, privilege) JOIN wanted USING (does)
        UNION ALL
        SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', oid::regprocedure)
          FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND prosecdef
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
