COMMENT ON TABLE refresh_lock IS
    'Always empty; used only for locking. A refresh of the materialised views locks it in EXCLUSIVE mode, so that one session at a time refreshes.';
