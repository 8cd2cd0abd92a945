-- How does a refresh bring all views up to date?

-- migrate follows the dependencies of the views and stores the result in defines_refresh, so that a run does not have to.
CREATE OR REPLACE FUNCTION refresh_definitions() RETURNS text LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT md5(string_agg(v.name || v.checksum, ' ' ORDER BY v.name)) FROM schema_views v WHERE v.defines_refresh
$$;
COMMENT ON FUNCTION refresh_definitions IS 'Returns a hash of the views on which the stored rows and totals depend, from schema_views.';

-- Whether a refresh would change anything. It would
--
-- - if a record changed, which leaves a mark of another kind than 'again',
-- - if no refresh ever succeeded, or the last one failed,
-- - if the clock was ahead at the last refresh (as_of is in the future),
-- - if a new day began in UTC,
-- - if a definition changed or a table was truncated since (definitions), or
-- - if a date passed at which a stored row counts differently (due_at).
--
-- A mark 'again' says that Apple signed the same renewal info again, or gave the same status again. Most of these marks change no figure, so they
-- alone are no reason. The next refresh finds out which do (resolve_keys).
CREATE OR REPLACE FUNCTION views_are_stale() RETURNS boolean LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT EXISTS (SELECT FROM refresh_changed_keys WHERE kind <> 'again')
        OR EXISTS (SELECT FROM refresh_state
                    WHERE as_of IS NULL OR as_of > now() OR (as_of AT TIME ZONE 'UTC')::date < (now() AT TIME ZONE 'UTC')::date
                       OR definitions IS DISTINCT FROM refresh_definitions() OR failed_since IS NOT NULL)
        OR EXISTS (SELECT FROM refresh_stored_periods WHERE due_at <= now())
        OR EXISTS (SELECT FROM refresh_stored_notification_days WHERE due_at <= now())
$$;
COMMENT ON FUNCTION views_are_stale IS 'Whether a refresh of the views would change anything.';

-- Removes all rows of working tables, which no view reads.
--
-- A table below 1 MiB is emptied with DELETE. A larger one is emptied with TRUNCATE, which frees its space at once, but locks the table until
-- COMMIT. So this is the last step of a refresh. If another session uses the table, such as a backup, which reads every table, the refresh does not
-- wait for it and uses DELETE.
CREATE OR REPLACE FUNCTION empty_tables(VARIADIC names text[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY names LOOP
        BEGIN
            IF pg_relation_size(quote_ident(name)) < 1048576 THEN
                EXECUTE format('DELETE FROM %I', name);
            ELSE
                EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE NOWAIT', name);
                EXECUTE format('TRUNCATE %I', name);
            END IF;
        EXCEPTION WHEN lock_not_available THEN
            EXECUTE format('DELETE FROM %I', name);
        END;
    END LOOP;
END $$;
COMMENT ON FUNCTION empty_tables IS 'Removes all rows of the named tables.';

CREATE OR REPLACE FUNCTION empty_refresh_tables() RETURNS void LANGUAGE sql SET search_path FROM CURRENT AS $$
    SELECT empty_tables('refresh_keys', 'refresh_periods_changed', 'refresh_transactions_changed', 'refresh_month_steps',
                        'refresh_cancellations_before', 'refresh_cancellations_after',
                        'refresh_refund_requests_before', 'refresh_refund_requests_after')
$$;
COMMENT ON FUNCTION empty_refresh_tables IS 'Removes all rows of refresh_keys, refresh_month_steps, and the tables refresh_…_changed, refresh_…_before and refresh_…_after.';

CREATE OR REPLACE FUNCTION refresh_views(everything boolean DEFAULT false, only_if_redefined boolean DEFAULT false)
RETURNS TABLE (is_everything boolean, purchases bigint, changed_views text[], milliseconds bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = on SET enable_hashjoin = on SET enable_mergejoin = off SET jit = off SET work_mem = '64MB'
SET default_statistics_target = 10 SET random_page_cost = 1.1 SET lock_timeout = '10min' AS $$
DECLARE
    began   timestamptz := clock_timestamp();
    changed text[];
BEGIN
    LOCK TABLE refresh_lock IN EXCLUSIVE MODE;
    IF only_if_redefined AND (SELECT definitions = refresh_definitions() FROM refresh_state) THEN
        RETURN;
    END IF;
    is_everything := take_changed_keys(everything);
    UPDATE refresh_state SET next_as_of = now(), is_rebuild = is_everything;
    changed := count_changes(is_everything);
    purchases := CASE WHEN is_everything THEN (SELECT s.purchases FROM refresh_state s)
                      ELSE (SELECT count(*) FROM refresh_keys WHERE kind = 'purchase') END;
    PERFORM empty_refresh_tables();
    changed_views := views_over(changed);
    milliseconds := extract(epoch FROM clock_timestamp() - began) * 1000;
    UPDATE refresh_state s
       SET as_of = now(), definitions = refresh_definitions(), is_rebuild = false, milliseconds = refresh_views.milliseconds,
           failed_since = NULL, failure = NULL;
    RETURN NEXT;
END $$;
COMMENT ON FUNCTION refresh_views IS
    'Updates the totals that the views read, for a role that does not own them. With everything, computes all from every record.';

-- The next refresh that succeeds clears failed_since and failure.
CREATE OR REPLACE FUNCTION record_refresh_failure(message text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '5s' AS $$
    UPDATE refresh_state SET failed_since = coalesce(failed_since, now()), failure = message
$$;
COMMENT ON FUNCTION record_refresh_failure IS 'Records why the views could not be refreshed, for a role that does not own them.';

REVOKE EXECUTE ON FUNCTION views_are_stale, refresh_views, record_refresh_failure FROM PUBLIC;

-- Roles that refresh the views already may also record why they could not, before sql/roles.sql runs again.
DO $$
DECLARE
    grantee text;
BEGIN
    FOR grantee IN
        SELECT pg_get_userbyid(a.grantee) FROM pg_proc p, aclexplode(p.proacl) a
         WHERE p.oid = 'refresh_views(boolean, boolean)'::regprocedure AND a.grantee <> p.proowner
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION record_refresh_failure TO %I', grantee);
    END LOOP;
END $$;
