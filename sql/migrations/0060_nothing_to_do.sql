-- How does migrate find that there is nothing to do, and a refresh that nothing is to be counted?
--
-- Both looked at everything each time. migrate wrote the comments of all views, and a refresh planned the statement of each total.
ALTER TABLE schema_views ADD COLUMN IF NOT EXISTS files_checksum text, ADD COLUMN IF NOT EXISTS defines_refresh boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN schema_views.files_checksum IS
    'SHA-256 of all files of sql/views when migrate last wrote the comments of all views. If no file has changed since, migrate writes none.';
COMMENT ON COLUMN schema_views.defines_refresh IS
    'Whether a refresh stores or counts rows by this view. If its definition changes, the next refresh computes everything.';
COMMENT ON COLUMN schema_views.applied_at IS 'When migrate last created the view or wrote its comments.';

-- migrate fills defines_refresh, so that a run need not follow the dependencies of the views.
CREATE OR REPLACE FUNCTION refresh_definitions() RETURNS text LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT md5(string_agg(v.name || v.checksum, ' ' ORDER BY v.name)) FROM schema_views v WHERE v.defines_refresh
$$;

-- The text of its first statement is the same for each table of totals.
ALTER FUNCTION add_changes(regclass) SET plan_cache_mode = force_generic_plan;

-- As before, but only totals over tables with rows are counted: planning their statements takes longer than counting the changes of a night.
CREATE OR REPLACE FUNCTION count_changes(p_everything boolean) RETURNS text[] LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    changed text[] := '{}';
    -- Their rows can be computed only when the periods are stored.
    later   text[] := '{refresh_cancellation_totals,refresh_refund_request_totals,refresh_decision_time_totals}';
    totals  regclass;
BEGIN
    IF p_everything THEN
        PERFORM empty_tables(VARIADIC array_agg(relname::text))
           FROM pg_class
          WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND relname ~ '^refresh_(stored_|.*_totals$)';
        -- What is stored is computed from these tables, and from others only for their rows.
        IF NOT EXISTS (SELECT FROM transactions) AND NOT EXISTS (SELECT FROM notifications) AND NOT EXISTS (SELECT FROM action_rows)
           AND NOT EXISTS (SELECT FROM advanced_commerce_refunds) AND NOT EXISTS (SELECT FROM product_periods) THEN
            UPDATE refresh_state SET purchases = 0;
            RETURN changed;
        END IF;
    ELSE
        PERFORM read_ahead();
    END IF;
    PERFORM compute_periods(p_everything);
    PERFORM compute_transactions(p_everything);
    IF NOT p_everything THEN
        PERFORM take_rows_beside();
    END IF;
    IF p_everything
       OR EXISTS (SELECT FROM refresh_periods_before) OR EXISTS (SELECT FROM refresh_periods_after)
       OR EXISTS (SELECT FROM refresh_transactions_before) OR EXISTS (SELECT FROM refresh_transactions_after)
       OR EXISTS (SELECT FROM refresh_periods_beside) OR EXISTS (SELECT FROM refresh_transactions_beside) THEN
        FOR totals IN
            SELECT oid FROM pg_class
             WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname LIKE 'refresh\_%\_totals'
               AND relname <> 'refresh_period_length_totals' AND relname <> ALL (later)
             ORDER BY relname
        LOOP
            IF add_changes(totals) THEN
                changed := changed || totals::text;
            END IF;
        END LOOP;
        IF NOT p_everything THEN
            PERFORM store_changes('refresh_stored_periods', 'refresh_periods_before', 'refresh_periods_after');
            PERFORM store_changes('refresh_stored_transactions', 'refresh_transactions_before', 'refresh_transactions_after');
            PERFORM renew_first_and_last();
            PERFORM add_changed_transactions();
            ANALYZE refresh_keys;
        END IF;
    END IF;
    PERFORM compute_cancellations(p_everything);
    PERFORM compute_refund_requests(p_everything);
    IF p_everything
       OR EXISTS (SELECT FROM refresh_cancellations_before) OR EXISTS (SELECT FROM refresh_cancellations_after)
       OR EXISTS (SELECT FROM refresh_refund_requests_before) OR EXISTS (SELECT FROM refresh_refund_requests_after) THEN
        FOREACH totals IN ARRAY later::regclass[] LOOP
            IF add_changes(totals) THEN
                changed := changed || totals::text;
            END IF;
        END LOOP;
    END IF;
    IF store_notification_days(p_everything) THEN
        changed := changed || 'refresh_stored_notification_days'::text;
    END IF;
    RETURN changed;
END $$;
