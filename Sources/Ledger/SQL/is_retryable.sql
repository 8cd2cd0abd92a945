-- A part of statements: whether an item failed in any run, and the job would still request it in the same way.
--
-- A window whose end lies in the future is left to the next run, which plans its time again.
--
-- :streams and :filters  the streams of the job and the filters of each
-- :oldest                the oldest date that Apple serves
-- :latest_now            the moment after which nothing has happened yet, except that PostgreSQL's clock has moved on since
app_id = :app AND job = :job AND state = 'failed'
    AND (stream, fingerprint) IN (SELECT * FROM unnest(:streams::text[], :filters::text[]))
    AND (window_end IS NULL OR window_end > :oldest::timestamptz AND window_end <= greatest(:latest_now::timestamptz, clock_timestamp()))
    AND NOT :is_unknown_and_unlisted
