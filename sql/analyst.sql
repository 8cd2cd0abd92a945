-- Gives one analyst a login: a role that reads what answers questions and the masked_ views, and nothing else.
--
--     psql -v analyst=ana -f sql/analyst.sql DATABASE
--
-- Run it once, after `storeledger migrate`, as a superuser or as the owner of the ledger if it has CREATEROLE. No object changes its owner,
-- and no right of another role changes. Running it again sets the rights and settings of this role again. A later `migrate` gives the role
-- the right to read new views.
--
-- A role that it creates has no password: set one with \password ana, or let pg_hba.conf map the role to a system user (peer) or a
-- certificate. DROP OWNED BY ana; DROP ROLE ana; removes the login.
--
-- Variables, each given with -v:
--   analyst=NAME      the role; it is created if there is none
--   schema=appstore   the value of output.postgres.schema in the job file
--
-- sql/roles.sql includes this file for its role storeledger_analyst.
\set ON_ERROR_STOP on
\set QUIET on
\set SHOW_CONTEXT never
\pset tuples_only on
\if :{?schema} \else \set schema appstore \endif
\if :{?analyst} \else \set analyst '' \endif
\if :{?inside_roles} \else \set inside_roles 0 \endif

\if :inside_roles
\else
    BEGIN;
    SET LOCAL client_min_messages = warning;
    SET LOCAL search_path = pg_catalog, pg_temp;
\endif
SELECT set_config('storeledger.schema', :'schema', true) AS s, set_config('storeledger.analyst', :'analyst', true) AS a \gset ignored_
SELECT left(:'schema', 56) || '_hidden' AS hidden,
       EXISTS (SELECT FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relnamespace = to_regnamespace(quote_ident(:'schema'))
                WHERE c.relname = 'schema_views' AND a.attname = 'readers') AS has_views \gset
SELECT set_config('storeledger.has_views', :'has_views', true) AS v \gset ignored_

\if :inside_roles
\else
    DO $$
    DECLARE
        schema  text := current_setting('storeledger.schema');
        analyst text := current_setting('storeledger.analyst');
        ledger  pg_namespace := (SELECT n FROM pg_namespace n WHERE nspname = schema);
    BEGIN
        IF analyst = '' THEN
            RAISE EXCEPTION 'which role? Name it: psql -v analyst=NAME -f sql/analyst.sql DATABASE';
        ELSIF NOT current_setting('storeledger.has_views')::boolean THEN
            RAISE EXCEPTION 'the schema % has no ledger yet: run storeledger migrate first', schema;
        ELSIF NOT pg_has_role(ledger.nspowner, 'MEMBER') THEN
            RAISE EXCEPTION 'the role % may not grant rights on the ledger: run this as a superuser, or as %', current_user, ledger.nspowner::regrole;
        ELSIF EXISTS (SELECT FROM pg_roles r WHERE r.rolname = analyst
                         AND (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls OR pg_has_role(r.oid, ledger.nspowner, 'MEMBER'))) THEN
            RAISE EXCEPTION 'the role % may do more than an analyst: choose another name', analyst;
        END IF;
    END $$;
    SELECT format('CREATE ROLE %I LOGIN CONNECTION LIMIT 20', :'analyst')
     WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'analyst') \gexec
    SELECT format('GRANT CONNECT ON DATABASE %I TO %I', datname, :'analyst')
      FROM pg_database WHERE datname = current_database() AND pg_has_role(datdba, 'USAGE') \gexec
\endif

-- Each file of sql/views names the roles that may read its view, and migrate lists them in schema_views. The views for analysis show
-- neither payloads nor data that identifies a person or a device: customers appear as Apple's IDs, as in the masked views.
CREATE TEMP TABLE analyst_reads ON COMMIT DROP AS
SELECT name FROM (VALUES ('products'), ('exchange_rates'), ('proceeds_rules'), ('schema_migrations'), ('schema_definitions')) v (name)
 WHERE to_regclass(quote_ident(:'schema') || '.' || name) IS NOT NULL;
\if :has_views
    INSERT INTO analyst_reads SELECT name FROM :"schema".schema_views WHERE 'analyst' = ANY (readers);
\endif
SELECT count(*) AS readable FROM analyst_reads \gset

SELECT format('REVOKE ALL ON %s %I FROM %I', kind, :'schema', :'analyst')
  FROM (VALUES ('SCHEMA'), ('ALL TABLES IN SCHEMA'), ('ALL SEQUENCES IN SCHEMA'), ('ALL ROUTINES IN SCHEMA')) k (kind) \gexec
SELECT format('GRANT USAGE ON SCHEMA %I TO %I', :'schema', :'analyst') \gexec
SELECT format('GRANT SELECT ON TABLE %I.%I TO %I', :'schema', name, :'analyst') FROM analyst_reads \gexec
-- The functions of these views.
SELECT format('GRANT EXECUTE ON FUNCTION %s TO %I', oid::regprocedure, :'analyst')
  FROM pg_proc WHERE pronamespace = to_regnamespace(quote_ident(:'schema')) AND proname IN ('exchange_rate', 'proceeds_rule') \gexec

DO $$
DECLARE
    analyst text := current_setting('storeledger.analyst');
    lacking text;
    others  text;
BEGIN
    SELECT string_agg(relname, ', ' ORDER BY relname) FILTER (WHERE is_wanted AND NOT has_table_privilege(analyst, oid, 'SELECT')),
           string_agg(relname, ', ' ORDER BY relname) FILTER (
               WHERE NOT is_wanted AND has_any_column_privilege(analyst, oid, 'SELECT')
                  OR has_any_column_privilege(analyst, oid, 'INSERT, UPDATE') OR has_table_privilege(analyst, oid, 'DELETE, TRUNCATE'))
      INTO lacking, others
      FROM (SELECT oid, relname, relname IN (SELECT name FROM pg_temp.analyst_reads) AS is_wanted FROM pg_class
             WHERE relnamespace = quote_ident(current_setting('storeledger.schema'))::regnamespace AND relkind IN ('r', 'p', 'v', 'm')) c;
    IF lacking IS NOT NULL OR NOT has_database_privilege(analyst, current_database(), 'CONNECT') THEN
        RAISE EXCEPTION 'the role % may not grant the right to %: run this as a superuser, or as the owner', current_user,
            coalesce('read ' || lacking, 'connect to ' || current_database());
    ELSIF others IS NOT NULL THEN
        RAISE EXCEPTION 'the role % has other rights, from another role or from PUBLIC, on %', analyst, others;
    END IF;
END $$;

-- The settings prevent mistakes; a session can change them. It cannot change the privileges.
SELECT format('ALTER ROLE %I IN DATABASE %I SET %s', :'analyst', current_database(), setting)
  FROM (VALUES ('default_transaction_read_only = on'), ('statement_timeout = ''60s'''), ('jit = off'), ('TimeZone = ''UTC'''),
               ('idle_in_transaction_session_timeout = ''60s'''), (format('search_path = %I, %I', :'hidden', :'schema'))) v (setting)
\gexec

-- psql lists the relations that a name without a schema would find, whether the role may read them or not. This schema stands before the ledger's
-- in the analyst's search path. It has a type without columns for each relation that only the refresh reads, so that \dv lists what an analyst reads.
SELECT format('CREATE SCHEMA %I AUTHORIZATION %I', :'hidden', pg_get_userbyid(nspowner))
  FROM pg_namespace WHERE nspname = :'schema' AND to_regnamespace(quote_ident(:'hidden')) IS NULL \gexec
SELECT format('GRANT USAGE ON SCHEMA %I TO %I', :'hidden', :'analyst') \gexec
SELECT format('SET LOCAL ROLE %I', pg_get_userbyid(nspowner)) FROM pg_namespace WHERE nspname = :'hidden' \gexec
\if :has_views
    SELECT format('CREATE TYPE %I.%I AS ()', :'hidden', c.relname)
      FROM pg_class c LEFT JOIN :"schema".schema_views v ON v.name = c.relname
     WHERE c.relnamespace = to_regnamespace(quote_ident(:'schema'))
       AND (c.relkind IN ('v', 'm') AND ('analyst' = ANY (v.readers)) IS NOT TRUE OR c.relkind IN ('r', 'p') AND c.relname LIKE 'refresh\_%')
       AND NOT EXISTS (SELECT FROM pg_class h WHERE h.relnamespace = to_regnamespace(quote_ident(:'hidden')) AND h.relname = c.relname) \gexec
\endif

\if :inside_roles
\else
    COMMIT;
    \echo :analyst may read :readable views and tables of the schema :schema
\endif
