/// A statement that makes a table with rows larger than a megabyte, by row versions that no session sees any more.
///
/// PostgreSQL and a program can treat a large table otherwise than a small one.
package func inflating(_ table: String) -> String {
    """
    DO $$ BEGIN
        WHILE pg_relation_size('\(table)') < 1200000 AND EXISTS (SELECT FROM \(table)) LOOP
            UPDATE \(table) SET app_id = app_id;
        END LOOP;
    END $$
    """
}
