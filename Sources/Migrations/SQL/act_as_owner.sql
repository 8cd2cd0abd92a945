-- Lets the transaction act as the owner of the ledger's schema, if the role is a member of that owner and not a superuser.
--
-- What migrate creates then belongs to the owner, also if sql/roles.sql has given the schema to a role without a login.
SELECT set_config('role', pg_get_userbyid(n.nspowner), true) AS role
  FROM pg_namespace n JOIN pg_roles me ON me.rolname = current_user
 WHERE n.nspname = current_schema() AND n.nspowner <> me.oid AND NOT me.rolsuper
   AND pg_has_role(n.nspowner, CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END)
