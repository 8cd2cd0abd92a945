-- How do erasures and loads wait for each other, and how does an erasure correct the totals?

-- Blocks erasures until the end of the transaction. Then returns the key of the app's tombstones, which exists once a customer of the app was erased.
--
-- The first statement takes the lock, so the second one sees what an erasure has committed before. An erasure takes the same lock in a mode
-- that excludes this one. So either the erasure finds the record that the transaction loads, or the transaction finds the tombstone. The function
-- sets lock_timeout, because the caller may have none.
CREATE OR REPLACE FUNCTION erasure_key(p_app_id integer) RETURNS bytea LANGUAGE plpgsql
SET search_path FROM CURRENT SET lock_timeout = '30s' AS $$
BEGIN
    LOCK TABLE erasure_lock IN ROW SHARE MODE;
    RETURN (SELECT k.key FROM erasure_keys k WHERE k.app_id = p_app_id);
END $$;
COMMENT ON FUNCTION erasure_key IS
    'Blocks erasures until the transaction ends. Returns the app''s tombstone key, or NULL if no customer was erased.';

-- Counts what the running erasure removed, as a refresh does, but as of the last refresh: next_as_of is set to as_of. If a refresh is
-- running, the marks stay for the next one.
CREATE OR REPLACE FUNCTION forget_erased(p_app_id integer, p_ids text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = on SET enable_hashjoin = on SET enable_mergejoin = off SET jit = off AS $$
BEGIN
    BEGIN
        LOCK TABLE refresh_lock IN EXCLUSIVE MODE NOWAIT;
    EXCEPTION WHEN lock_not_available THEN
        RETURN;
    END;
    WITH taken AS (
        DELETE FROM refresh_changed_keys WHERE written_by = pg_current_xact_id() OR app_id = p_app_id AND key = ANY (p_ids)
        RETURNING app_id, kind, key
    )
    INSERT INTO refresh_keys SELECT DISTINCT app_id, kind, key FROM taken;
    IF (SELECT as_of IS NOT NULL FROM refresh_state) THEN
        PERFORM resolve_keys();
        -- The totals stay as of the last refresh.
        UPDATE refresh_state SET next_as_of = as_of;
        PERFORM count_changes(false);
    END IF;
    PERFORM empty_refresh_tables();
END $$;
COMMENT ON FUNCTION forget_erased IS
    'Takes what the running erasure removed out of the tables refresh_stored_… and refresh_…_totals; for a role that does not own them.';

REVOKE EXECUTE ON FUNCTION forget_erased FROM PUBLIC;
