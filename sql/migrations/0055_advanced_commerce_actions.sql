-- Which state of a subscription did the plan of an Advanced Commerce request look at?
--
-- Both values are those of the newest renewal info when the batch was planned. With the token, Apple refuses the request if the
-- subscription has changed since. The ID tells, after a lost answer, whether the subscription is as it was.
ALTER TABLE action_rows ADD COLUMN consistency_token text, ADD COLUMN request_reference_id_before text;
COMMENT ON COLUMN action_rows.consistency_token IS
    'The consistencyToken of the newest renewal info when the batch was planned, which is sent with an Advanced Commerce request; NULL if the ledger had none.';
COMMENT ON COLUMN action_rows.request_reference_id_before IS
    'The requestReferenceId of the last Advanced Commerce request that the ledger knew when the batch was planned; NULL if it knew none.';
-- Both can contain IDs of customers.
ALTER TABLE action_rows ALTER COLUMN consistency_token SET STATISTICS 0, ALTER COLUMN request_reference_id_before SET STATISTICS 0;

-- The plan reads the items. Roles that act already may do so before sql/roles.sql runs again.
DO $$
DECLARE
    statement text;
BEGIN
    FOR statement IN
        SELECT DISTINCT format('GRANT SELECT ON TABLE advanced_commerce_items, advanced_commerce_refunds TO %I', pg_get_userbyid(a.grantee))
          FROM pg_class c, aclexplode(c.relacl) a
         WHERE c.oid = 'action_attempts'::regclass AND a.grantee <> c.relowner AND a.grantee <> 0 AND a.privilege_type = 'INSERT'
    LOOP
        EXECUTE statement;
    END LOOP;
END $$;
