/// A statement that makes a table with rows larger than a megabyte, by rows of other apps that are gone again.
///
/// PostgreSQL and a program can treat a large table otherwise than a small one.
package func inflating(_ table: String) -> String {
    """
    DO $$ BEGIN
        WHILE pg_relation_size('\(table)') < 1200000 AND EXISTS (SELECT FROM \(table)) LOOP
            INSERT INTO \(table)
            SELECT added.* FROM (SELECT t FROM \(table) t LIMIT 1) one (row), generate_series(1, 5000) n,
                   LATERAL jsonb_populate_record(one.row, jsonb_build_object('app_id', -n)) added;
            DELETE FROM \(table) WHERE app_id < 0;
        END LOOP;
    END $$
    """
}
