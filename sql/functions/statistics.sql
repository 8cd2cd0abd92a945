-- Which statistics does the planner need, and which must an erasure remove?

-- storeledger migrate --partitions N divides the large tables of a new ledger by hash. Autovacuum renews the statistics of each
-- partition, but never the statistics of the whole table, and PostgreSQL stores no size for the whole table. These functions therefore
-- treat a table and its partitions as one. ANALYZE of a partitioned table analyses its partitions, too.

-- Whether a table, or the partitions of a table together, have grown by a fifth since the last ANALYZE of the table.
--
-- The number of rows at that ANALYZE is known for a partitioned table, but not the number of blocks; the rows per block are taken
-- from the partitions. An index that is created on a full table, as at the end of a restore, also sets these numbers. So the numbers of a table with rows
-- count only if it has statistics. ANALYZE of an empty table leaves none.
CREATE OR REPLACE FUNCTION has_grown(p_table regclass) RETURNS boolean LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT sum(pg_relation_size(part.oid)) > 65536
           AND sum(pg_relation_size(part.oid)) > 1.2 * current_setting('block_size')::integer * coalesce(
               CASE WHEN whole.reltuples > 0
                         AND NOT EXISTS (SELECT FROM pg_stats s WHERE s.schemaname = current_schema() AND s.tablename = whole.relname) THEN 0
                    WHEN whole.relkind = 'r' THEN sum(part.relpages)
                    ELSE greatest(whole.reltuples, 0) * sum(part.relpages) / nullif(sum(greatest(part.reltuples, 0)), 0)
               END, 0)
      FROM pg_class whole
      LEFT JOIN pg_inherits i ON i.inhparent = whole.oid
      JOIN pg_class part ON part.oid = coalesce(i.inhrelid, whole.oid)
     WHERE whole.oid = p_table
     GROUP BY whole.oid, whole.relname, whole.relkind, whole.reltuples
$$;
COMMENT ON FUNCTION has_grown IS 'Returns whether a table, with its partitions, has grown by a fifth since its planner statistics were updated.';

-- Without this, the views of a first sync would be computed over tables that the planner takes for empty. Autovacuum would correct
-- that, but it looks once a minute, and a size is known at once. The function waits for no lock: a session that has a table's lock
-- is probably analysing the table, too. crawl_items has a separate function.
--
-- refresh_state has one row, and views join it without a condition. Without statistics the planner expects hundreds of rows. Then it can read
-- all notifications to compute one day of them.
CREATE OR REPLACE FUNCTION analyze_grown_tables() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    grown regclass;
BEGIN
    FOR grown IN
        SELECT c.oid FROM pg_class c
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
           AND c.relname <> 'crawl_items' AND (has_grown(c.oid) OR c.relname = 'refresh_state' AND c.reltuples < 0)
         ORDER BY c.relname
    LOOP
        EXECUTE format('ANALYZE (SKIP_LOCKED) %s', grown);
    END LOOP;
END $$;
COMMENT ON FUNCTION analyze_grown_tables IS
    'Updates the planner statistics of tables that have grown by a fifth since their last update, and once of refresh_state, on behalf of a role that does not own them.';

-- Until the table has grown by a fifth, the planner knows enough, and a run that plans a few items need not read 30,000 blocks.
CREATE OR REPLACE FUNCTION analyze_crawl_items() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF has_grown('crawl_items') THEN
        ANALYZE crawl_items;
    END IF;
END $$;
COMMENT ON FUNCTION analyze_crawl_items IS 'Updates the planner statistics of crawl_items on behalf of a role that does not own the table.';

-- A table that cannot be analysed stays in stale_statistics with the reason, and keeps nobody else waiting: the next call tries again.
CREATE OR REPLACE FUNCTION analyze_erased_tables() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '60s' AS $$
DECLARE
    seen   bigint[];
    erased record;
BEGIN
    SELECT array_agg(s.stale_id) INTO seen FROM stale_statistics s;
    FOR erased IN
        SELECT DISTINCT s.table_name AS name, c.oid::regclass AS place FROM stale_statistics s
          LEFT JOIN pg_class c ON c.relname = s.table_name AND c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
         WHERE s.stale_id = ANY (seen)
         ORDER BY s.table_name
    LOOP
        BEGIN
            IF erased.place IS NOT NULL THEN
                EXECUTE format('ANALYZE %s', erased.place);
                PERFORM forget_statistics(erased.place);
            END IF;
            DELETE FROM stale_statistics s WHERE s.table_name = erased.name AND s.stale_id = ANY (seen);
        EXCEPTION WHEN OTHERS THEN
            UPDATE stale_statistics s SET failure = SQLERRM WHERE s.table_name = erased.name AND s.stale_id = ANY (seen);
        END;
    END LOOP;
END $$;
COMMENT ON FUNCTION analyze_erased_tables IS
    'Updates the planner statistics of tables from which an erasure has removed rows, on behalf of a role that does not own them.';

-- ANALYZE of an empty table, or of an empty partition, changes nothing, so the statistics of the rows that were there would stay, and
-- before PostgreSQL 18 no function removes them. A row that exists only inside this transaction takes their place in the sample; no
-- other session can see it. It has a value in each column that must have one. If a constraint lists the values of a column, the row
-- has the last of them. In a partition, its key is one that belongs there. A table without statistics needs no such row.
CREATE OR REPLACE FUNCTION forget_statistics(emptied regclass) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    names      text;
    cells      text;
    key_column text;
    key        text;
    part       regclass;
    has_rows   boolean;
    place      tid;
    parts      regclass[] := '{}';
    places     tid[] := '{}';
BEGIN
    SELECT a.attname INTO key_column
      FROM pg_partitioned_table p JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0]
     WHERE p.partrelid = emptied;
    SELECT string_agg(quote_ident(a.attname), ', '),
           string_agg(CASE WHEN a.attname = 'app_id' THEN '(SELECT min(app_id) FROM apps)'
                           WHEN a.attname = key_column THEN '$1'
                           WHEN listed.value IS NOT NULL THEN listed.value
                           ELSE format('%L::%s', CASE WHEN t.typcategory = 'N' THEN '0'
                                                      WHEN t.typcategory = 'D' THEN 'epoch'
                                                      WHEN t.typcategory = 'B' THEN 'false'
                                                      WHEN t.typcategory = 'A' OR t.typname = 'jsonb' THEN '{}'
                                                      WHEN t.typcategory = 'S' THEN 'done'
                                                      WHEN t.typname = 'uuid' THEN '00000000-0000-0000-0000-000000000000'
                                                      ELSE '' END, format_type(t.oid, NULL)) END, ', ')
      INTO names, cells
      FROM pg_attribute a
      JOIN pg_type t ON t.oid = a.atttypid
      LEFT JOIN LATERAL (
          SELECT substring(pg_get_constraintdef(c.oid) FROM '[[,] ?(''[^'']*''::text|[0-9]+)]') AS value FROM pg_constraint c
           WHERE c.conrelid = emptied AND c.contype = 'c' AND c.conkey = ARRAY[a.attnum] LIMIT 1
      ) listed ON true
     WHERE a.attrelid = emptied AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull AND a.attidentity = '' AND a.attgenerated = '';
    FOR part IN
        SELECT c.oid FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
         WHERE coalesce(i.inhparent, c.oid) = emptied AND c.relkind = 'r'
           AND EXISTS (SELECT FROM pg_stats s WHERE s.schemaname = current_schema() AND s.tablename = c.relname)
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s)', part) INTO has_rows;
        CONTINUE WHEN has_rows;
        IF key_column IS NOT NULL THEN
            EXECUTE format('SELECT %1$I FROM (SELECT ''done '' || n AS %1$I FROM generate_series(1, 100000) n) k WHERE %2$s LIMIT 1',
                           key_column, pg_get_partition_constraintdef(part)) INTO key;
        END IF;
        EXECUTE format('INSERT INTO %s (%s) VALUES (%s) RETURNING ctid', part, names, cells) INTO place USING key;
        parts := parts || part;
        places := places || place;
    END LOOP;
    IF cardinality(parts) = 0 THEN RETURN; END IF;
    EXECUTE format('ANALYZE %s', emptied);
    FOR n IN 1..cardinality(parts) LOOP
        EXECUTE format('DELETE FROM %s WHERE ctid = $1', parts[n]) USING places[n];
    END LOOP;
    -- No other session ever saw the row, so no part of a change export has its deletion.
    DELETE FROM changed_rows c WHERE c.changed_in = pg_current_xact_id() AND c.key[1] LIKE 'done%';
END $$;
COMMENT ON FUNCTION forget_statistics IS 'Internal step of analyze_erased_tables().';

REVOKE EXECUTE ON FUNCTION analyze_grown_tables, analyze_crawl_items, analyze_erased_tables FROM PUBLIC;
