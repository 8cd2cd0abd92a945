-- Stores the filters of a stream. The result has a row if the stream had other filters before.
WITH before AS (SELECT fingerprint FROM planned_streams WHERE app_id = :app AND job = :job AND stream = :stream),
kept AS (
    INSERT INTO planned_streams AS p (app_id, job, stream, fingerprint)
    VALUES (:app::integer, :job::text, :stream::text, :filters::text)
    ON CONFLICT (app_id, job, stream) DO UPDATE SET fingerprint = excluded.fingerprint
     WHERE p.fingerprint <> excluded.fingerprint
)
SELECT FROM before WHERE fingerprint <> :filters
