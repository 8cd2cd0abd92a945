-- A part of statements: whether Apple does not know the ID of a failed item, and the ID has left the job's list.
--
-- A run requests every ID of its lists, so the ID has left if the last complete run did not request the item. Other failed items stay,
-- because a list can name other customers each night.
--
-- :whole_lists    the streams whose lists every run reads
-- :unknown_codes  Apple's codes for IDs that do not exist
(stream = ANY (:whole_lists::text[]) AND coalesce(error_code, 0) = ANY (:unknown_codes::text[]::bigint[])
    AND run_id < coalesce((SELECT max(run_id) FROM runs WHERE app_id = :app AND job = :job AND finished_at IS NOT NULL
        AND exit_code IN (0, 2) AND NOT is_retry AND empty_lists = 0), 0))
