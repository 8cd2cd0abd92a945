-- PostgreSQL's clock, and a hash of the migrations and functions of the schema: its version.
SELECT clock_timestamp() AS moment,
       (SELECT md5(string_agg(name || ' ' || checksum, ' ' ORDER BY name))
          FROM (SELECT name, checksum FROM schema_migrations
                UNION ALL SELECT name, checksum FROM schema_definitions WHERE name LIKE 'functions/%') f) AS version
