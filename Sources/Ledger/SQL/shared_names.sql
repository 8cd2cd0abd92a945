-- The names in a query that mean a relation of the user or one of the ledger, depending on the order of the schemas.
--
-- A name counts where a query names relations: after FROM, JOIN or a comma, without a schema before it. :ledger is the schema of the
-- ledger.
SELECT DISTINCT ON (l.relname) o.relnamespace::regnamespace || '.' || quote_ident(o.relname) AS own,
       l.relnamespace::regnamespace || '.' || quote_ident(l.relname) AS ledger
  FROM unnest(current_schemas(false)) WITH ORDINALITY AS found (schema, place)
  JOIN pg_class o ON o.relnamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = found.schema)
  JOIN pg_class l ON l.relname = o.relname AND l.relnamespace <> o.relnamespace
 WHERE l.relnamespace = (SELECT n.oid FROM pg_namespace n WHERE n.nspname = :ledger)
   AND l.relkind IN ('r', 'p', 'v', 'm', 'f') AND o.relkind IN ('r', 'p', 'v', 'm', 'f')
   AND :query::text ~* ('(\mfrom|\mjoin|,)\s*(only\s+)?("' || l.relname || '"|\m' || l.relname || '\M)(?!\.)')
 ORDER BY l.relname, found.place
