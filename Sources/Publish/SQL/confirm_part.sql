-- Records that the announced part is published.
UPDATE change_exports SET part = next_part, snapshot = next_snapshot, next_part = NULL, next_snapshot = NULL
 WHERE app_id = :app AND job = :job AND format = :format AND next_part IS NOT NULL
