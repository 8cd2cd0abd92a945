-- Which rows changed since the last part of a change export, and which are gone?
--
-- A change export writes parts: the rows that became visible since the last part, and the keys of rows that are gone.
--
-- 1. While an app has a change export, triggers append the key of each changed row to changed_rows, with the number of the
--    writing transaction.
-- 2. An export reads, in one snapshot, the keys whose transaction this snapshot sees and the snapshot of the last part does not
--    see. A transaction that commits late is therefore in a later part; a time or a sequence would lose it. A key with a row
--    becomes a row of the part, and a key without one a tombstone.
-- 3. The next part is announced here before its manifest is published, and confirmed after. A process can stop in between: the
--    identifier of the last part in the manifest says which of both is true. If it is neither, directory and ledger do not
--    belong together, for example after the restore of a backup, and the export starts again with all rows.
CREATE TABLE change_exports (
    app_id integer NOT NULL REFERENCES apps,
    job text NOT NULL,
    format text NOT NULL,
    tables text[] NOT NULL,
    server text NOT NULL DEFAULT ledger_server(),
    started_in xid8 NOT NULL DEFAULT pg_current_xact_id(),
    part uuid,
    snapshot pg_snapshot,
    next_part uuid,
    next_snapshot pg_snapshot,
    PRIMARY KEY (app_id, job, format)
);
COMMENT ON TABLE change_exports IS 'The exports with changes: true, and what their published parts show.';
COMMENT ON COLUMN change_exports.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN change_exports.job IS 'The name of the job.';
COMMENT ON COLUMN change_exports.format IS 'The format of the files: csv or parquet.';
COMMENT ON COLUMN change_exports.tables IS 'The exported tables. With other tables, the export starts again.';
COMMENT ON COLUMN change_exports.server IS 'The server and its timeline, see ledger_server(). Transaction numbers mean nothing on another one.';
COMMENT ON COLUMN change_exports.started_in IS 'The transaction that started the export. Changes of earlier transactions may not be in changed_rows.';
COMMENT ON COLUMN change_exports.part IS 'The identifier of the last published part; NULL before the first.';
COMMENT ON COLUMN change_exports.snapshot IS 'The database snapshot of the last published part; NULL before the first.';
COMMENT ON COLUMN change_exports.next_part IS 'The identifier of a part that is being published; NULL otherwise.';
COMMENT ON COLUMN change_exports.next_snapshot IS 'The database snapshot of a part that is being published; NULL otherwise.';

-- Rows are only appended, because a unique row would lose a change that is written while an export removes the row.
CREATE TABLE changed_rows (
    app_id integer NOT NULL,
    table_name text NOT NULL,
    key text[] NOT NULL,
    changed_in xid8 NOT NULL DEFAULT pg_current_xact_id()
);
COMMENT ON TABLE changed_rows IS 'The keys of rows that changed since the last parts of the change exports. Empty without such an export.';
COMMENT ON COLUMN changed_rows.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN changed_rows.table_name IS 'The table.';
COMMENT ON COLUMN changed_rows.key IS 'The primary key as texts, without app_id. A tombstone has the key of an erased row until the next part is published.';
COMMENT ON COLUMN changed_rows.changed_in IS 'The transaction that changed the row.';
ALTER TABLE changed_rows ALTER COLUMN key SET STATISTICS 0;

-- TRUNCATE has no rows: the next export starts again.
CREATE FUNCTION restart_change_exports() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM change_exports WHERE TG_TABLE_NAME = ANY (tables);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION restart_change_exports IS 'Makes the next change export write all rows.';

-- One function for each table, because a statement with the table's columns in its text is planned once in a session.
DO $$
DECLARE
    logged record;
    body constant text := $body$
    CREATE FUNCTION log_changes_of_%1$s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $f$
    BEGIN
        IF NOT EXISTS (SELECT FROM change_exports) THEN RETURN NULL; END IF;
        IF TG_OP = 'DELETE' THEN
            INSERT INTO changed_rows (app_id, table_name, key)
            SELECT app_id, '%1$s', ARRAY[%2$s] FROM old_rows o WHERE app_id IN (SELECT e.app_id FROM change_exports e);
            RETURN NULL;
        END IF;
        INSERT INTO changed_rows (app_id, table_name, key)
        SELECT app_id, '%1$s', ARRAY[%2$s] FROM new_rows o WHERE app_id IN (SELECT e.app_id FROM change_exports e);
        IF TG_OP = 'UPDATE' THEN
            INSERT INTO changed_rows (app_id, table_name, key)
            SELECT app_id, '%1$s', ARRAY[%2$s] FROM old_rows o
             WHERE app_id IN (SELECT e.app_id FROM change_exports e)
               AND NOT EXISTS (SELECT FROM new_rows n WHERE n.app_id = o.app_id AND %3$s);
        END IF;
        RETURN NULL;
    END $f$
    $body$;
BEGIN
    FOR logged IN
        SELECT c.relname AS name,
               string_agg(format('o.%I::text', a.attname), ', ' ORDER BY array_position(x.indkey::smallint[], a.attnum)) AS key,
               string_agg(format('n.%1$I = o.%1$I', a.attname), ' AND ') AS same
          FROM unnest('{transactions,refunds,notifications,notification_send_attempts,renewals,app_transactions,subscription_statuses,orders,order_transactions,advanced_commerce_items,advanced_commerce_refunds}'::text[]) t (name)
          JOIN pg_class c ON c.oid = to_regclass(t.name)
          JOIN pg_index x ON x.indrelid = c.oid AND x.indisprimary
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (x.indkey) AND a.attname <> 'app_id'
         GROUP BY c.relname
    LOOP
        EXECUTE format(body, logged.name, logged.key, logged.same);
        EXECUTE format('COMMENT ON FUNCTION log_changes_of_%s() IS %L', logged.name, 'Appends the keys of changed rows to changed_rows.');
        EXECUTE format('CREATE TRIGGER log_new_rows AFTER INSERT ON %I REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION log_changes_of_%s()',
                       logged.name, logged.name);
        EXECUTE format('CREATE TRIGGER log_changed_rows AFTER UPDATE ON %I REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION log_changes_of_%s()',
                       logged.name, logged.name);
        EXECUTE format('CREATE TRIGGER log_gone_rows AFTER DELETE ON %I REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION log_changes_of_%s()',
                       logged.name, logged.name);
        EXECUTE format('CREATE TRIGGER restart_change_exports AFTER TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION restart_change_exports()',
                       logged.name);
    END LOOP;
END $$;

-- A job that is removed has no export any more. Its files stay.
CREATE FUNCTION forget_change_exports() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM change_exports e USING old_rows o WHERE e.app_id = o.app_id AND e.job = o.job;
    DELETE FROM changed_rows c WHERE NOT EXISTS (SELECT FROM change_exports e WHERE e.app_id = c.app_id);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION forget_change_exports IS 'Ends the change exports of removed jobs.';
CREATE TRIGGER forget_change_exports AFTER DELETE ON jobs REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION forget_change_exports();

-- Roles that load already may use the tables before sql/roles.sql runs again. The functions are not open to PUBLIC: triggers need
-- no right to execute.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT DISTINCT format('GRANT SELECT, INSERT, UPDATE, DELETE ON change_exports, changed_rows TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.oid = 'runs'::regclass AND a.grantee <> c.relowner AND a.grantee <> 0 AND a.privilege_type = 'INSERT'
        UNION ALL
        SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', p.oid::regprocedure) FROM pg_proc p
         WHERE p.pronamespace = current_schema()::regnamespace
           AND (p.proname LIKE 'log\_changes\_of\_%' OR p.proname IN ('restart_change_exports', 'forget_change_exports'))
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
