-- Which rows have changed since the last change export?

-- A trigger on TRUNCATE sees no rows, so the next export starts over.
CREATE OR REPLACE FUNCTION restart_change_exports() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM change_exports
     WHERE (SELECT relname FROM pg_class WHERE oid = coalesce(pg_partition_root(TG_RELID), TG_RELID)) = ANY (tables);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION restart_change_exports IS 'Makes the next change export write all rows.';

-- A job that is removed has no export any more. Its files stay.
CREATE OR REPLACE FUNCTION forget_change_exports() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    DELETE FROM change_exports e USING old_rows o WHERE e.app_id = o.app_id AND e.job = o.job;
    DELETE FROM changed_rows c WHERE NOT EXISTS (SELECT FROM change_exports e WHERE e.app_id = c.app_id);
    RETURN NULL;
END $$;
COMMENT ON FUNCTION forget_change_exports IS 'Ends the change exports of removed jobs.';

CREATE OR REPLACE TRIGGER forget_change_exports AFTER DELETE ON jobs REFERENCING OLD TABLE AS old_rows
    FOR EACH STATEMENT EXECUTE FUNCTION forget_change_exports();

-- Each exported table has a separate function, which names the columns of its primary key.
DO $$
DECLARE
    logged record;
    body constant text := $body$
    CREATE OR REPLACE FUNCTION log_changes_of_%1$s() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $f$
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
          FROM unnest('{transactions,refunds,notifications,notification_send_attempts,renewals,app_transactions,subscription_statuses,orders,order_transactions,customer_groups,group_members,seats,seat_claims,advanced_commerce_items,advanced_commerce_refunds,seat_price_tiers}'::text[]) t (name)
          JOIN pg_class c ON c.oid = to_regclass(t.name)
          JOIN pg_index x ON x.indrelid = c.oid AND x.indisprimary
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (x.indkey) AND a.attname <> 'app_id'
         GROUP BY c.relname
    LOOP
        EXECUTE format(body, logged.name, logged.key, logged.same);
        EXECUTE format('REVOKE EXECUTE ON FUNCTION log_changes_of_%s() FROM PUBLIC', logged.name);
        EXECUTE format('COMMENT ON FUNCTION log_changes_of_%s() IS %L', logged.name, 'Appends the keys of changed rows to changed_rows.');
        EXECUTE format('CREATE OR REPLACE TRIGGER log_new_rows AFTER INSERT ON %I REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION log_changes_of_%s()',
                       logged.name, logged.name);
        EXECUTE format('CREATE OR REPLACE TRIGGER log_changed_rows AFTER UPDATE ON %I REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION log_changes_of_%s()',
                       logged.name, logged.name);
        EXECUTE format('CREATE OR REPLACE TRIGGER log_gone_rows AFTER DELETE ON %I REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION log_changes_of_%s()',
                       logged.name, logged.name);
        EXECUTE format('CREATE OR REPLACE TRIGGER restart_change_exports AFTER TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION restart_change_exports()',
                       logged.name);
    END LOOP;
END $$;

REVOKE EXECUTE ON FUNCTION restart_change_exports, forget_change_exports FROM PUBLIC;
