COMMENT ON TABLE erased_marks IS 'Tombstones of erased customers. A record with one of these IDs is never stored again.';
COMMENT ON COLUMN erased_marks.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN erased_marks.mark IS
    'HMAC-SHA256, with the app''s key, of the prefix "transaction ", "appTransaction " or "account " and the ID.';
COMMENT ON COLUMN erased_marks.erased_at IS 'When the ID was erased, or when it first appeared in a later record of an erased customer.';
