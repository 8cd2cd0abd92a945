extension PostgresConnection {
    /// Runs a `LOCK TABLE` statement that waits for a short time.
    ///
    /// PostgreSQL logs the end of such a wait as an error, and alerts of managed services fire at each error. It logs none that a block of
    /// PL/pgSQL handles. Unlike `LOCK TABLE` alone, the block has a snapshot while it waits.
    ///
    /// - Parameters:
    ///   - lock: The statement, without parameters.
    ///   - limit: The value of `lock_timeout`, until the transaction ends or sets another.
    /// - Returns: Whether the lock was taken. If not, the transaction can go on, with its former `lock_timeout`.
    /// - Throws: ``PostgresError``.
    package borrowing func tryLock(_ lock: String, within limit: String) throws(PostgresError) -> Bool {
        try script(
            """
            DO $$
            BEGIN
                SET LOCAL storeledger.lock = 'taken';
                SET LOCAL lock_timeout = '\(limit)';
                \(lock);
            EXCEPTION WHEN lock_not_available THEN
                SET LOCAL storeledger.lock = 'refused';
            END $$
            """
        )
        return try run("SELECT current_setting('storeledger.lock') = 'taken' AS taken")[0].bool("taken")
    }
}
