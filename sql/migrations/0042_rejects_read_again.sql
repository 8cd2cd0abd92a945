-- When does a rejected record stop counting?
--
-- A run reads an item with rejected records again from its first page. The end of this reading resolves them.
COMMENT ON COLUMN rejected_records.resolved_at IS
    'When a replay loaded the record, when a later run read its item from the first page to the last (Apple''s newer copy is loaded, or rejected in a row of its own), or when its job was removed. NULL while it is rejected.';
