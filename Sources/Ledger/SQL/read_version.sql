-- PostgreSQL's clock, and a hash of the migrations and functions of the schema: its version.
--
-- Every transaction runs this. The version is a sum of hashes, so PostgreSQL need not sort the names.
SELECT clock_timestamp() AS moment,
       (SELECT sum(hashtextextended(name || ' ' || checksum, 0)::numeric)::text
          FROM (SELECT name, checksum FROM schema_migrations
                UNION ALL SELECT name, checksum FROM schema_definitions WHERE name LIKE 'functions/%') f) AS version
