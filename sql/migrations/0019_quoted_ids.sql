-- Which texts quote a customer's ID, and of which tables must the planner's statistics be renewed after an erasure?
--
-- An erasure used to read every rejected text and every notification without a transaction while it held the app's lock.
-- Now the transaction that stores such a text also stores a hash of each ID in it, and an erasure looks the hashes up.
-- A hash has no key: whoever may read quoted_ids may read the texts as well, and its rows leave with the text. The columns
-- have no statistics, because statistics would outlive the rows.

CREATE TABLE quoted_ids (
    app_id integer NOT NULL,
    owner_kind text NOT NULL CHECK (owner_kind IN ('rejected', 'notification')),
    owner_key text NOT NULL,
    id_hash bigint NOT NULL,
    PRIMARY KEY (app_id, owner_kind, owner_key, id_hash)
);
CREATE INDEX quoted_ids_id_hash ON quoted_ids (app_id, id_hash);
ALTER TABLE quoted_ids ALTER COLUMN owner_key SET STATISTICS 0, ALTER COLUMN id_hash SET STATISTICS 0;
COMMENT ON TABLE quoted_ids IS
    'Hashes of what may be customers'' IDs in rejected records and in notifications that name no transaction, so that an erasure finds those texts.';
COMMENT ON COLUMN quoted_ids.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN quoted_ids.owner_kind IS
    'Whose text it is: rejected (rejected_records) or notification (notifications).';
COMMENT ON COLUMN quoted_ids.owner_key IS
    'record_id of the rejected record, or notification_uuid of the notification.';
COMMENT ON COLUMN quoted_ids.id_hash IS
    'The first eight bytes of the SHA-256 of an ID''s text, as a signed number.';

-- Texts of before this table: the next erasure reads them, in small batches and before it takes the app's lock, once.
CREATE TABLE unread_texts (
    app_id integer NOT NULL,
    owner_kind text NOT NULL CHECK (owner_kind IN ('rejected', 'notification')),
    owner_key text NOT NULL,
    PRIMARY KEY (app_id, owner_kind, owner_key)
);
ALTER TABLE unread_texts ALTER COLUMN owner_key SET STATISTICS 0;
COMMENT ON TABLE unread_texts IS
    'Texts that were stored before quoted_ids existed and are not in it yet; the next erasure reads them and empties the table.';
COMMENT ON COLUMN unread_texts.app_id IS
    'The app, in apps.';
COMMENT ON COLUMN unread_texts.owner_kind IS
    'As in quoted_ids.';
COMMENT ON COLUMN unread_texts.owner_key IS
    'As in quoted_ids.';
INSERT INTO unread_texts (app_id, owner_kind, owner_key)
SELECT app_id, 'rejected', record_id::text FROM rejected_records
UNION ALL
SELECT app_id, 'notification', notification_uuid FROM notifications WHERE transaction_id IS NULL;

COMMENT ON COLUMN crawl_items.item_key IS
    'The transaction ID; or, for the notifications of the whole app, the window as two UNIX milliseconds with ".." between, and a mark of its filters; or "erased" and the beginning of a tombstone, where the ID turned out to be an erased customer''s.';
COMMENT ON COLUMN coverage_gaps.item_key IS
    'The transaction ID or window; "app" for the notifications of the whole app; or "erased" and the beginning of a tombstone, as in crawl_items.';
COMMENT ON COLUMN schema_drift.sample IS
    'One value as JSON text, at most 200 characters; values that look like a UUID are masked. NULL after an erasure of the app, until the field comes again.';

-- ANALYZE keeps values of a column: the most common ones, and a hundred that divide the others. They outlive the rows they
-- come from until the next ANALYZE, so an erasure names the tables it removed rows from, and renews their statistics after it
-- has committed. A process that is killed in between leaves the names here for the next erasure or refresh.
CREATE TABLE stale_statistics (
    stale_id bigint GENERATED ALWAYS AS IDENTITY,
    table_name text NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (stale_id)
);
COMMENT ON TABLE stale_statistics IS
    'Tables an erasure has removed rows from since the planner''s statistics of them were last renewed.';
COMMENT ON COLUMN stale_statistics.stale_id IS
    'Our number for the entry.';
COMMENT ON COLUMN stale_statistics.table_name IS
    'The table.';
COMMENT ON COLUMN stale_statistics.since IS
    'When the erasure began.';

-- ANALYZE of an empty table changes nothing, so the statistics of the rows that were there would stay. A row that exists only
-- inside this transaction takes their place in the sample; no other session can see it.
CREATE FUNCTION forget_statistics(emptied regclass) RETURNS void LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    names  text;
    cells  text;
    placed tid;
BEGIN
    SELECT string_agg(quote_ident(a.attname), ', '),
           string_agg(CASE WHEN a.attname = 'app_id' THEN '(SELECT min(app_id) FROM apps)'
                           WHEN a.atttypid IN ('smallint'::regtype, 'integer'::regtype, 'bigint'::regtype) THEN '0'
                           WHEN a.atttypid = 'timestamptz'::regtype THEN '''epoch'''
                           WHEN a.atttypid = 'boolean'::regtype THEN 'false'
                           WHEN a.atttypid = 'jsonb'::regtype THEN '''{}'''
                           WHEN a.atttypid = 'text'::regtype THEN '''done'''
                           ELSE '''''' END, ', ')
      INTO names, cells
      FROM pg_attribute a
     WHERE a.attrelid = emptied AND a.attnum > 0 AND NOT a.attisdropped AND a.attnotnull AND a.attidentity = '';
    EXECUTE format('INSERT INTO %s (%s) VALUES (%s) RETURNING ctid', emptied, names, cells) INTO placed;
    EXECUTE format('ANALYZE %s', emptied);
    EXECUTE format('DELETE FROM %s WHERE ctid = $1', emptied) USING placed;
END $$;
COMMENT ON FUNCTION forget_statistics IS 'A part of analyze_erased_tables().';

CREATE FUNCTION analyze_erased_tables() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '60s' AS $$
DECLARE
    seen   bigint[];
    erased regclass;
    holds  boolean;
BEGIN
    SELECT array_agg(s.stale_id) INTO seen FROM stale_statistics s;
    FOR erased IN
        SELECT c.oid FROM pg_class c
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
           AND c.relname IN (SELECT s.table_name FROM stale_statistics s WHERE s.stale_id = ANY (seen))
         ORDER BY c.relname
    LOOP
        EXECUTE format('ANALYZE %s', erased);
        EXECUTE format('SELECT EXISTS (SELECT FROM %s)', erased) INTO holds;
        IF NOT holds THEN
            PERFORM forget_statistics(erased);
        END IF;
    END LOOP;
    DELETE FROM stale_statistics s WHERE s.stale_id = ANY (seen);
END $$;
COMMENT ON FUNCTION analyze_erased_tables IS
    'Renews the planner''s statistics of tables an erasure has removed rows from, for a role that does not own them.';
