COMMENT ON TABLE erasure_lock IS
    'Always empty; used only for locking. Pages, plans and replays lock it in ROW SHARE mode and an erasure in EXCLUSIVE mode, so that no record is written while its customer is being erased.';
