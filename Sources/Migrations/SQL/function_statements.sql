-- The statements that give roles the right to call new functions.
--
-- A role that may call every older function that runs with the caller's rights may call a new one, and PUBLIC may not, as sql/roles.sql says.
-- Without such a role, the ledger has no roles, and nothing is changed.
--
-- :known  the OIDs of the functions that were there before
WITH own AS (
    SELECT p.oid, p.proowner, p.proacl, p.oid::text = ANY (:known::text[]) AS is_known
      FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace AND NOT p.prosecdef
), callers AS (
    SELECT a.grantee
      FROM own CROSS JOIN LATERAL aclexplode(own.proacl) a
     WHERE own.is_known AND a.privilege_type = 'EXECUTE' AND a.grantee NOT IN (0, own.proowner)
     GROUP BY a.grantee
    HAVING count(DISTINCT own.oid) = (SELECT count(*) FROM own WHERE is_known)
)
SELECT DISTINCT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', own.oid::regprocedure) AS statement
  FROM own CROSS JOIN callers
 WHERE NOT own.is_known
UNION ALL
SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', own.oid::regprocedure, pg_get_userbyid(callers.grantee))
  FROM own CROSS JOIN callers
 WHERE NOT own.is_known
