-- Who may use the tables and functions that 0018 to 0027 have added, in a ledger that has its roles already?
--
-- Roles that load or erase now get the rights that sql/roles.sql gives them, so that they work before it runs again. The new
-- tables belong to the owner of runs. Functions that run with the owner's rights are not open to PUBLIC.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE %s OWNER TO %I', c.oid::regclass, pg_get_userbyid(runs.relowner))
          FROM pg_class c JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> c.relowner
         WHERE c.relnamespace = runs.relnamespace AND c.relkind = 'r'
    LOOP
        EXECUTE statement;
    END LOOP;
    FOR statement IN
        WITH granted AS (
            SELECT c.relname AS name, a.privilege_type AS privilege, a.grantee
              FROM pg_class c, aclexplode(c.relacl) a
             WHERE c.relnamespace = current_schema()::regnamespace AND a.grantee <> c.relowner AND a.grantee <> 0
        ), work (does, name, privilege) AS (
            VALUES ('load', 'runs', 'INSERT'), ('erase', 'transactions', 'DELETE')
        ), wanted (does, rights) AS (
            VALUES ('load', 'SELECT, INSERT, UPDATE, DELETE ON quarantined_records'), ('load', 'SELECT, INSERT, DELETE ON quoted_ids'),
                   ('load', 'SELECT, DELETE ON unread_texts'), ('load', 'SELECT, INSERT ON stale_statistics'), ('load', 'SELECT, INSERT, UPDATE, DELETE ON latest_signatures'),
                   ('load', 'SELECT, INSERT ON changed_customers'), ('load', 'SELECT, INSERT, UPDATE ON planned_streams'),
                   ('load', 'EXECUTE ON FUNCTION analyze_erased_tables()'),
                   ('erase', 'SELECT, INSERT, DELETE ON quoted_ids'), ('erase', 'SELECT, DELETE ON unread_texts'),
                   ('erase', 'SELECT, INSERT ON stale_statistics'), ('erase', 'SELECT, DELETE ON latest_signatures'),
                   ('erase', 'SELECT, DELETE ON changed_customers'), ('erase', 'EXECUTE ON FUNCTION analyze_erased_tables()')
        )
        SELECT DISTINCT format('GRANT %s TO %I', rights, pg_get_userbyid(grantee))
          FROM granted JOIN work USING (name, privilege) JOIN wanted USING (does)
        UNION ALL
        SELECT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', oid::regprocedure)
          FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND prosecdef
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
