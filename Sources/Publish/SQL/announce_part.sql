-- Records the part that is about to be published; the row count says whether the export still exists.
UPDATE change_exports SET next_part = :part::text::uuid, next_snapshot = :snapshot::text::pg_snapshot
 WHERE app_id = :app AND job = :job AND format = :format
