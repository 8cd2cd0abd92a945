-- The approval of a policy has its rules, so that the database can compare rows with them. An approval of an earlier version has none.
ALTER TABLE action_policy_approvals ADD COLUMN policy jsonb;

-- Roles that approve or act already may do what is new before sql/roles.sql runs again. A plan takes part in the lock of erasures.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT DISTINCT format('GRANT INSERT (policy) ON action_policy_approvals TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c JOIN pg_attribute t ON t.attrelid = c.oid, aclexplode(t.attacl) a
         WHERE c.oid = 'action_policy_approvals'::regclass AND t.attname = 'policy_sha256' AND a.grantee <> c.relowner AND a.grantee <> 0
           AND a.privilege_type = 'INSERT'
        UNION ALL
        SELECT DISTINCT format(rights, pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a,
               unnest(ARRAY['GRANT SELECT ON erasure_keys, erased_marks TO %I', 'GRANT UPDATE ON erasure_lock TO %I']) rights
         WHERE c.oid = 'action_attempts'::regclass AND a.grantee <> c.relowner AND a.grantee <> 0 AND a.privilege_type = 'INSERT'
        UNION ALL
        SELECT DISTINCT format('GRANT UPDATE (notification_uuid, notification_type, subtype, original_transaction_id, body, body_sha256, normalised_at) '
                               'ON received_notifications TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.oid = 'erasure_keys'::regclass AND a.grantee <> c.relowner AND a.grantee <> 0 AND a.privilege_type = 'INSERT'
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
