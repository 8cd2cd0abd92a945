-- The statements that follow from new and removed views for the roles that read views.
--
-- 1. A role that may read every other view with the same readers may read a new one. A role with a right on some of them only,
--    such as a dashboard, may not.
-- 2. The schema of sql/analyst.sql, if there is one, has a type for each relation that only the refresh reads.
--
-- :new  the names of the views that were not there before
WITH readers (readers, role, views) AS (
    SELECT v.readers, a.grantee, count(DISTINCT v.name)
      FROM schema_views v
      JOIN pg_class c ON c.relname = v.name AND c.relnamespace = current_schema()::regnamespace
     CROSS JOIN LATERAL aclexplode(c.relacl) a
     WHERE a.privilege_type = 'SELECT' AND a.grantee NOT IN (0, c.relowner) AND v.name <> ALL (:new::text[])
     GROUP BY v.readers, a.grantee
), internal (name) AS (
    SELECT c.relname FROM pg_class c LEFT JOIN schema_views v ON v.name = c.relname
     WHERE c.relnamespace = current_schema()::regnamespace
       AND (c.relkind IN ('v', 'm') AND ('analyst' = ANY (v.readers)) IS NOT TRUE OR c.relkind IN ('r', 'p') AND c.relname LIKE 'refresh\_%')
), hidden (schema, oid) AS (
    SELECT nspname, oid FROM pg_namespace WHERE nspname = left(current_schema(), 56) || '_hidden' AND pg_has_role(nspowner, 'USAGE')
)
SELECT format('GRANT SELECT ON %I TO %I', v.name, pg_get_userbyid(r.role)) AS statement
  FROM schema_views v JOIN readers r USING (readers)
 WHERE v.name = ANY (:new::text[])
   AND r.views = (SELECT count(*) FROM schema_views other WHERE other.readers = v.readers AND other.name <> ALL (:new::text[]))
UNION ALL
SELECT format('DROP TYPE %I.%I', h.schema, c.relname)
  FROM hidden h JOIN pg_class c ON c.relnamespace = h.oid AND c.relkind = 'c'
 WHERE c.relname NOT IN (SELECT name FROM internal) AND pg_has_role(c.relowner, 'USAGE')
UNION ALL
SELECT format('CREATE TYPE %I.%I AS ()', h.schema, i.name)
  FROM hidden h CROSS JOIN internal i
 WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = h.oid AND c.relname = i.name)
