-- The rows of the input of actions whose request is made of several of them: the lines of external purchase reports.
CREATE TABLE action_input_rows (
    app_id         integer NOT NULL,
    batch_id       uuid    NOT NULL,
    input_position bigint  NOT NULL,
    position       bigint  NOT NULL,
    line           bigint,
    input          text[]  NOT NULL,
    line_item_id   text,
    parameters     jsonb,
    rule           text,
    reason         text,
    PRIMARY KEY (app_id, batch_id, input_position),
    FOREIGN KEY (app_id, batch_id, position) REFERENCES action_rows (app_id, batch_id, position) ON DELETE CASCADE
);
ALTER TABLE action_input_rows ALTER COLUMN input SET STATISTICS 0,
    ALTER COLUMN line_item_id SET STATISTICS 0,
    ALTER COLUMN parameters SET STATISTICS 0,
    ALTER COLUMN reason SET STATISTICS 0;
CREATE INDEX action_input_rows_position ON action_input_rows (app_id, batch_id, position);
CREATE INDEX action_input_rows_line_item_id ON action_input_rows (app_id, line_item_id) WHERE line_item_id IS NOT NULL;

-- The table belongs to the ledger's owner. Roles that act and approve already may use it before sql/roles.sql runs again.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE action_input_rows OWNER TO %I', pg_get_userbyid(runs.relowner))
          FROM pg_class c JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> c.relowner
         WHERE c.oid = 'action_input_rows'::regclass
        UNION ALL
        SELECT DISTINCT format('GRANT SELECT, INSERT ON action_input_rows TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.oid = 'action_attempts'::regclass AND a.grantee <> c.relowner AND a.grantee <> 0 AND a.privilege_type = 'INSERT'
        UNION ALL
        SELECT DISTINCT format('GRANT SELECT ON action_input_rows TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
         WHERE c.oid = 'action_batches'::regclass AND t.attname = 'approved_at' AND a.grantee <> c.relowner AND a.grantee <> 0
           AND a.privilege_type = 'UPDATE'
        UNION ALL
        SELECT DISTINCT format('GRANT SELECT, UPDATE (input) ON action_input_rows TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
         WHERE c.oid = 'action_rows'::regclass AND t.attname = 'salt' AND a.grantee <> c.relowner AND a.grantee <> 0 AND a.privilege_type = 'UPDATE'
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
