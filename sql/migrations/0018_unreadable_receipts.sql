-- Whose receipts of an ID list could not be read, and which unknown fields have an explanation?
ALTER TABLE runs ADD COLUMN unreadable_receipts bigint NOT NULL DEFAULT 0;
ALTER TABLE schema_drift ADD COLUMN remark text;

-- The exporter of an existing installation reads columns.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT DISTINCT format('GRANT SELECT (%I) ON %I TO %I', v.new_column, v.relation, pg_get_userbyid(a.grantee))
          FROM (VALUES ('runs', 'run_id', 'unreadable_receipts'), ('schema_drift', 'path', 'remark')) v (relation, known_column, new_column)
          JOIN pg_attribute t ON t.attrelid = to_regclass(v.relation) AND t.attname = v.known_column
          CROSS JOIN LATERAL aclexplode(t.attacl) a
         WHERE a.privilege_type = 'SELECT' AND a.grantee <> 0
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
