-- Whether the job has runs from the future, or windows that end in the future.
SELECT EXISTS (:future_runs)
    OR EXISTS (SELECT FROM crawl_items WHERE app_id = :app AND job = :job AND stream = :stream AND fingerprint = :filters
                  AND window_end > :latest_moment) AS is_needed
