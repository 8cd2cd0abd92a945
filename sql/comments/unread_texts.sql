COMMENT ON TABLE unread_texts IS
    'Texts that were stored before quoted_ids had their kind and that are not in it yet. The next erasure reads them and empties the table.';
COMMENT ON COLUMN unread_texts.app_id IS 'The app in one environment; see apps.';
COMMENT ON COLUMN unread_texts.owner_kind IS 'As in quoted_ids.';
COMMENT ON COLUMN unread_texts.owner_key IS 'As in quoted_ids.';
