-- Which rights do the roles of an existing installation get on the tables and columns of 0018 to 0022?
--
-- They are the rights of sql/roles.sql, so that the processes of a new version work before that file runs again. The names of roles differ
-- between installations. So each row finds its roles by a right that no other role has; column_name is NULL for a right on a whole table.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT format('ALTER TABLE %s OWNER TO %I', t.relation, pg_get_userbyid(runs.relowner))
          FROM unnest('{action_input_rows,customer_groups,group_members,seats,seat_claims,seat_price_tiers,forwards}'::regclass[]) t (relation)
          JOIN pg_class c ON c.oid = t.relation
          JOIN pg_class runs ON runs.oid = 'runs'::regclass AND runs.relowner <> c.relowner
    LOOP
        EXECUTE statement;
    END LOOP;
    FOR statement IN
        SELECT DISTINCT format('GRANT %s TO %I', g.rights, pg_get_userbyid(a.grantee))
          FROM (VALUES
                   -- Loaders, then erasers.
                   ('orders', NULL, 'INSERT', ARRAY['SELECT, INSERT, UPDATE, DELETE ON customer_groups, group_members', 'SELECT, INSERT, UPDATE ON seats',
                                                    'SELECT, INSERT, DELETE ON seat_claims']),
                   ('orders', NULL, 'DELETE', ARRAY['SELECT, DELETE ON customer_groups, group_members, seats, seat_claims']),
                   -- Loaders and receivers, then erasers.
                   ('advanced_commerce_items', NULL, 'INSERT', ARRAY['SELECT, INSERT, DELETE ON seat_price_tiers']),
                   ('advanced_commerce_items', NULL, 'DELETE', ARRAY['SELECT, DELETE ON seat_price_tiers']),
                   ('received_notifications', NULL, 'INSERT', ARRAY['SELECT, INSERT, UPDATE, DELETE ON forwards']),
                   ('received_notifications', NULL, 'DELETE', ARRAY['SELECT, DELETE ON forwards']),
                   ('action_rows', 'salt', 'UPDATE', ARRAY['SELECT, UPDATE (input) ON action_input_rows']),
                   -- Actors and approvers.
                   ('action_attempts', NULL, 'INSERT', ARRAY['SELECT ON seats, seat_claims', 'SELECT, INSERT ON action_input_rows']),
                   ('action_batches', 'approved_at', 'UPDATE', ARRAY['SELECT ON action_input_rows']),
                   -- Exporters, which read columns.
                   ('orders', 'order_id', 'SELECT',
                    (SELECT array_agg(format('SELECT (%s) ON %s', columns, relation))
                       FROM (SELECT attrelid::regclass AS relation, string_agg(quote_ident(attname), ', ') AS columns
                               FROM pg_attribute
                              WHERE attrelid = ANY ('{customer_groups,group_members,seats,seat_claims,seat_price_tiers,forwards}'::regclass[])
                                    AND attnum > 0 AND atttypid <> 'bytea'::regtype
                                 OR attrelid = 'runs'::regclass AND attname = 'unreadable_receipts'
                                 OR attrelid = 'schema_drift'::regclass AND attname = 'remark'
                              GROUP BY attrelid) c))
               ) known (relation, column_name, privilege, statements)
          JOIN pg_class c ON c.oid = to_regclass(known.relation)
          LEFT JOIN pg_attribute t ON t.attrelid = c.oid AND t.attname = known.column_name
          CROSS JOIN LATERAL aclexplode(CASE WHEN known.column_name IS NULL THEN c.relacl ELSE t.attacl END) a
          CROSS JOIN LATERAL unnest(known.statements) AS g (rights)
         WHERE a.privilege_type = known.privilege AND a.grantee NOT IN (c.relowner, 0)
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
