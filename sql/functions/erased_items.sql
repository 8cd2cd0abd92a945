-- How does an item lose an ID that turns out to be an erased customer's?
--
-- A receiver stores records that can show that an ID of a crawl is an erased customer's. It has no right on the progress of crawls, so
-- these functions change it with the rights of the owner, and only of IDs that have a tombstone.

-- HMAC-SHA256 (RFC 2104), as in ErasureKey.
CREATE OR REPLACE FUNCTION erasure_mark(p_key bytea, p_kind text, p_id text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT sha256(string_agg(set_byte('\x00', 0, b.byte # 92), '' ORDER BY b.place)
                  || sha256(string_agg(set_byte('\x00', 0, b.byte # 54), '' ORDER BY b.place)
                            || convert_to(p_kind || ' ' || p_id, 'UTF8')))
      FROM (SELECT place, CASE WHEN place < length(p_key) THEN get_byte(p_key, place) ELSE 0 END AS byte
              FROM generate_series(0, 63) AS place) b
$$;
COMMENT ON FUNCTION erasure_mark IS 'The tombstone of an ID, as in erased_marks.mark.';

-- The items and gaps of all jobs and streams with one of the keys. There are few pairs of job and stream, and one look into an index
-- finds the next pair, so other rows are not read.
CREATE OR REPLACE FUNCTION end_erased_items(p_app_id integer, p_marked_by integer, p_ids text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET plan_cache_mode = force_custom_plan AS $$
DECLARE
    erasure_key bytea := (SELECT k.key FROM erasure_keys k WHERE k.app_id = p_marked_by);
    found       record;
    of_table    text;
BEGIN
    FOREACH of_table IN ARRAY '{crawl_items,coverage_gaps}'::text[] LOOP
        FOR found IN EXECUTE format($query$
            WITH RECURSIVE pairs AS (
                (SELECT i.job, i.stream FROM %1$I i WHERE i.app_id = $1 ORDER BY i.job, i.stream LIMIT 1)
                UNION ALL
                SELECT n.job, n.stream FROM pairs p, LATERAL (
                    SELECT i.job, i.stream FROM %1$I i WHERE i.app_id = $1 AND (i.job, i.stream) > (p.job, p.stream)
                     ORDER BY i.job, i.stream LIMIT 1) n
            ), marks AS MATERIALIZED (
                SELECT DISTINCT ON (w.id) w.id, e.mark
                  FROM unnest($2) AS w (id) CROSS JOIN unnest('{transaction,order}'::text[]) AS k (kind)
                  JOIN LATERAL (SELECT erasure_mark($3, k.kind, w.id) AS mark OFFSET 0) m ON true
                  JOIN erased_marks e ON e.app_id = $4 AND e.mark = m.mark
                 ORDER BY w.id, k.kind DESC
            )
            SELECT DISTINCT i.job, i.stream, m.id, 'erased ' || encode(substr(m.mark, 1, 8), 'hex') AS new_key
              FROM pairs p, marks m, LATERAL (
                   SELECT i.job, i.stream FROM %1$I i
                    WHERE i.app_id = $1 AND i.job = p.job AND i.stream = p.stream AND i.item_key = m.id OFFSET 0) i
             ORDER BY 1, 2, 3$query$, of_table) USING p_app_id, p_ids, erasure_key, p_marked_by
        LOOP
            IF of_table = 'crawl_items' THEN
                UPDATE crawl_items SET item_key = found.new_key, state = 'done', claimable_at = NULL, lease_owner = NULL,
                       lease_epoch = lease_epoch + 1, cursor = NULL, saw_revocation = false, error_code = NULL, error_message = NULL,
                       finished_at = coalesce(finished_at, clock_timestamp())
                 WHERE app_id = p_app_id AND job = found.job AND stream = found.stream AND item_key = found.id;
            ELSE
                UPDATE coverage_gaps SET item_key = found.new_key
                 WHERE app_id = p_app_id AND job = found.job AND stream = found.stream AND item_key = found.id;
            END IF;
            INSERT INTO stale_statistics (table_name) VALUES (of_table);
        END LOOP;
    END LOOP;
END $$;
COMMENT ON FUNCTION end_erased_items IS
    'Ends the items of p_app_id with these IDs as far as p_marked_by has tombstones of them, and replaces the IDs in items and gaps by a part of the tombstone.';

REVOKE EXECUTE ON FUNCTION erasure_mark, end_erased_items FROM PUBLIC;
