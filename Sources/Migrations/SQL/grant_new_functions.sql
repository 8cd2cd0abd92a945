-- The statements that give roles the right to call new functions.
--
-- A role gets EXECUTE on each new SECURITY INVOKER function if it has EXECUTE on all older ones, and PUBLIC loses it, as in sql/roles.sql. If
-- no role has EXECUTE on all older ones, sql/roles.sql was never run, and nothing changes.
--
-- :existing  the OIDs of the functions that were there before
WITH functions AS (
    SELECT p.oid, p.proowner, p.proacl, p.oid::text = ANY (:existing::text[]) AS existed
      FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace AND NOT p.prosecdef
), callers AS (
    SELECT a.grantee
      FROM functions f CROSS JOIN LATERAL aclexplode(f.proacl) a
     WHERE f.existed AND a.privilege_type = 'EXECUTE' AND a.grantee NOT IN (0, f.proowner)
     GROUP BY a.grantee
    HAVING count(DISTINCT f.oid) = (SELECT count(*) FROM functions WHERE existed)
)
SELECT DISTINCT format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', f.oid::regprocedure) AS statement
  FROM functions f CROSS JOIN callers
 WHERE NOT f.existed
UNION ALL
SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', f.oid::regprocedure, pg_get_userbyid(callers.grantee))
  FROM functions f CROSS JOIN callers
 WHERE NOT f.existed
