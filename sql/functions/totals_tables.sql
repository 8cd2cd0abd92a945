-- How does a table of totals follow from its view of changes?

-- The columns of a table of totals: the columns of its view of changes, in the same order. The columns of the key have the
-- view's types. The others are sums, which are never NULL and of type bigint, or first and last moments.
CREATE OR REPLACE FUNCTION totals_columns(changes text, key text[]) RETURNS TABLE (name text, type text, is_required boolean)
LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT a.attname::text,
           CASE WHEN a.attname <> ALL (key) AND a.atttypid = 'numeric'::regtype THEN 'bigint' ELSE format_type(a.atttypid, a.atttypmod) END,
           a.attname = 'app_id' OR a.attname <> ALL (key) AND a.atttypid IN ('numeric'::regtype, 'bigint'::regtype)
      FROM pg_attribute a
     WHERE a.attrelid = quote_ident(changes)::regclass AND a.attnum > 0
     ORDER BY a.attnum
$$;
COMMENT ON FUNCTION totals_columns IS 'A part of storeledger migrate.';

-- Whether a table of totals has the columns, the key and the statistics that its view of changes gives it.
CREATE OR REPLACE FUNCTION totals_fit(changes text, key text[]) RETURNS boolean LANGUAGE sql STABLE SET search_path FROM CURRENT AS $$
    SELECT (SELECT array_agg(concat_ws(' ', c.name, c.type, c.is_required) ORDER BY c.name COLLATE "C") FROM totals_columns(changes, key) c)
               = (SELECT array_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull) ORDER BY a.attname)
                    FROM pg_attribute a WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped)
       AND key = (SELECT array_agg(a.attname::text ORDER BY k.place)
                    FROM pg_index x
                    CROSS JOIN LATERAL unnest(x.indkey::smallint[]) WITH ORDINALITY k (number, place)
                    JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number
                   WHERE x.indrelid = t.oid AND x.indisunique)
       AND ('day' <> ALL (key) OR EXISTS (SELECT FROM pg_statistic_ext s WHERE s.stxrelid = t.oid))
      FROM (SELECT to_regclass(quote_ident(regexp_replace(changes, '_changes$', '_totals')))::oid AS oid) t
$$;
COMMENT ON FUNCTION totals_fit IS 'A part of storeledger migrate.';

-- Makes the table of totals of a view of changes, in place of one with other columns. Its rows are kept if no column of the key is gone, so
-- that views show them until the next refresh.
CREATE OR REPLACE FUNCTION make_totals(changes text, key text[]) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    totals  text := quote_ident(regexp_replace(changes, '_changes$', '_totals'));
    columns record;
    had     text[];
    had_key text[];
BEGIN
    SELECT string_agg(format('%I %s%s', name, type, CASE WHEN is_required THEN ' NOT NULL' END), ', ') AS definitions, array_agg(name) AS names
      INTO columns FROM totals_columns(changes, key);
    IF to_regclass(totals) IS NOT NULL THEN
        SELECT array_agg(a.attname::text), array_agg(a.attname::text) FILTER (WHERE a.attnum = ANY (x.indkey::smallint[]))
          INTO had, had_key
          FROM pg_attribute a JOIN pg_index x ON x.indrelid = a.attrelid AND x.indisunique
         WHERE a.attrelid = totals::regclass AND a.attnum > 0 AND NOT a.attisdropped;
        EXECUTE format('CREATE TEMP TABLE replaced ON COMMIT DROP AS TABLE %s', totals);
        EXECUTE format('DROP TABLE %s', totals);
    END IF;
    -- VACUUM shortens a table under a lock that readers wait for, and that ends queries on a replica. A refresh uses the space again.
    EXECUTE format('CREATE TABLE %s (%s, UNIQUE NULLS NOT DISTINCT (%s)) WITH (vacuum_truncate = off)', totals, columns.definitions,
                   (SELECT string_agg(quote_ident(name), ', ' ORDER BY place) FROM unnest(key) WITH ORDINALITY k (name, place)));
    -- Views group days by month. Without these statistics, the planner would expect a hundredth of the rows that a range of months has.
    IF 'day' = ANY (key) THEN
        EXECUTE format('CREATE STATISTICS %I ON (date_trunc(''month'', day::timestamp)::date) FROM %s',
                       regexp_replace(changes, '_changes$', '_months'), totals);
    END IF;
    IF had_key <@ columns.names THEN
        EXECUTE format('INSERT INTO %s SELECT %s FROM replaced', totals,
                       (SELECT string_agg(CASE WHEN name = ANY (had) THEN quote_ident(name) WHEN name = ANY (key) THEN 'NULL' ELSE '0' END, ', ')
                          FROM unnest(columns.names) name));
    END IF;
    DROP TABLE IF EXISTS pg_temp.replaced;
END $$;
COMMENT ON FUNCTION make_totals IS 'A part of storeledger migrate.';
