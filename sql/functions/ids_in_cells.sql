-- Which rows of actions name a customer in any cell of their input?

-- What may be IDs of customers in the cells of an input row: each run of 6 to 20 digits, each UUID in lower case, and each cell of at least 6
-- characters that can be an order ID. IDScanner and OrderID find the same for a plan, and shorter order IDs and IDs in Base64 as well.
--
-- Indexes use the function. If its result changes, create them again.
CREATE OR REPLACE FUNCTION ids_in_cells(p_cells text[]) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE COST 1000 AS $$
    SELECT array_agg(DISTINCT found.id)
      FROM unnest(p_cells) AS c (cell)
      CROSS JOIN LATERAL (
          SELECT cell WHERE cell ~ '^[A-Za-z0-9_-]{6,64}$'
          UNION ALL
          SELECT run[1] FROM regexp_matches(cell, '[0-9]+', 'g') AS r (run) WHERE length(run[1]) BETWEEN 6 AND 20
          UNION ALL
          SELECT lower(uuid[1])
            FROM regexp_matches(cell, '[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}', 'g') AS u (uuid)
      ) found (id)
     WHERE length(cell) >= 6
$$;
COMMENT ON FUNCTION ids_in_cells IS
    'Returns what may be IDs of customers in the cells of an input row; NULL if there is none. Reads only its parameter.';

-- A row whose only cell is its subject is found by the subject.
CREATE INDEX IF NOT EXISTS action_rows_ids ON action_rows USING gin (ids_in_cells(input))
 WHERE input <> '{}' AND input IS DISTINCT FROM ARRAY[subject];
CREATE INDEX IF NOT EXISTS action_input_rows_ids ON action_input_rows USING gin (ids_in_cells(input)) WHERE input <> '{}';

-- Roles that write or clear these rows already may call the function, before sql/roles.sql runs again.
REVOKE EXECUTE ON FUNCTION ids_in_cells FROM PUBLIC;
DO $$
DECLARE
    grantee text;
BEGIN
    FOR grantee IN
        SELECT DISTINCT pg_get_userbyid(a.grantee)
          FROM pg_class c
          JOIN pg_attribute t ON t.attrelid = c.oid
          CROSS JOIN LATERAL aclexplode(coalesce(t.attacl, c.relacl)) a
         WHERE c.oid = 'action_rows'::regclass AND a.privilege_type IN ('INSERT', 'UPDATE') AND a.grantee NOT IN (c.relowner, 0)
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION ids_in_cells TO %I', grantee);
    END LOOP;
END $$;
