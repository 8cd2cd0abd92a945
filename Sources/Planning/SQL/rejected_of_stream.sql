-- A part of statements: as rejected_items.sql, but only the keys of the items of one stream.
SELECT item_key FROM (:rejected_items) r WHERE stream = :stream::text
