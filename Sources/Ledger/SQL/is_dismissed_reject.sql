-- Whether an operator has dismissed a rejected record.
SELECT EXISTS (SELECT FROM rejected_records
                WHERE app_id = :app::integer AND job = :job::text AND stream = :stream::text AND reason = :reason::text
                  AND sha256 = :hash::bytea AND dismissed_at IS NOT NULL) AS dismissed
