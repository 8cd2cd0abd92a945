-- Is every row of a batch still what its plan froze, also after an erasure has cleared some of the rows? And why does a query have no rows?
--
-- rows_sha256 covers all rows, so it cannot be computed any more once a row is cleared. Each row therefore has a SHA-256 of its own, and
-- the batch one of all of them. A row's hash contains a random salt. An erasure removes the salt, and then the hash that stays says nothing of
-- the customer. Batches that were planned before this migration have neither.
ALTER TABLE action_rows ADD COLUMN salt uuid, ADD COLUMN salted_sha256 bytea;
-- The statistics of the salt would keep some of those that an erasure removes.
ALTER TABLE action_rows ALTER COLUMN salt SET STATISTICS 0, ALTER COLUMN salted_sha256 SET STATISTICS 0;
ALTER TABLE action_batches ADD COLUMN salted_sha256 text CHECK (salted_sha256 ~ '^[0-9a-f]{64}$');
COMMENT ON COLUMN action_rows.salt IS 'A random number in salted_sha256; NULL after an erasure, and for a row that an earlier version planned.';
COMMENT ON COLUMN action_rows.salted_sha256 IS
    'SHA-256 of salt, position, verdict, input, subject, parameters and consistency_token when the row was planned; stays after an erasure, and then says nothing of the customer. NULL for a row that an earlier version planned.';
COMMENT ON COLUMN action_batches.salted_sha256 IS
    'SHA-256 of salted_sha256 of all rows by position, hexadecimal. It covers the rows that an erasure has not cleared; NULL for a batch that an earlier version planned.';

CREATE FUNCTION salted_row_sha256(
    p_salt uuid, p_position bigint, p_verdict text, p_input text[], p_subject text, p_parameters jsonb, p_consistency_token text
) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256(convert_to(ROW(p_salt, p_position, p_verdict, p_input, p_subject, p_parameters, p_consistency_token)::text, 'UTF8'))
$$;
COMMENT ON FUNCTION salted_row_sha256 IS 'The SHA-256 of a row of a batch, as in action_rows.salted_sha256.';

-- A query without rows does not say why. With this function it does: a campaign can name the limit that it has reached.
CREATE FUNCTION refuse_input(p_reason text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'SL001', MESSAGE = p_reason;
END $$;
COMMENT ON FUNCTION refuse_input IS 'Ends the plan of a batch with this sentence; for the query of its input.';

-- The functions belong to the ledger's owner. Roles that act already may use them, and write the new column, before sql/roles.sql runs again.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER FUNCTION %s OWNER TO %I', p.oid::regprocedure, pg_get_userbyid(runs.relowner))
          FROM pg_proc p JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> p.proowner
         WHERE p.pronamespace = runs.relnamespace AND p.proname IN ('salted_row_sha256', 'refuse_input')
        UNION ALL
        SELECT 'REVOKE EXECUTE ON FUNCTION salted_row_sha256, refuse_input FROM PUBLIC'
        UNION ALL
        SELECT DISTINCT format(rights, pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a,
               unnest(ARRAY['GRANT INSERT (salted_sha256) ON action_batches TO %I', 'GRANT EXECUTE ON FUNCTION salted_row_sha256, refuse_input TO %I']) rights
         WHERE c.oid = 'action_attempts'::regclass AND a.grantee <> c.relowner AND a.grantee <> 0 AND a.privilege_type = 'INSERT'
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
