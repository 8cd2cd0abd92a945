/// Statements for the rows of a table with given keys, in which each key is looked up in an index.
///
/// `key = ANY (…)` does not guarantee this: with statistics from a smaller table, the planner can read every row of the
/// app and then compare the keys. Here the app and the keys come from a subquery with `OFFSET 0`, so that the planner has
/// no other condition than the whole key.
///
/// Rows are not selected by `ctid`: in a partitioned table, rows of other partitions can have the same one.
package enum KeyedRows {
    /// A query for columns of the rows; parameter 1 is the app, parameter 2 the keys as text[].
    ///
    /// - Parameters:
    ///   - columns: Expressions over a row `x`, with their names.
    ///   - isAppFirst: Whether the index begins with the app; otherwise it begins with the key.
    package static func select(
        _ columns: String,
        from table: String,
        by key: String,
        isAppFirst: Bool = true
    ) -> String {
        """
        SELECT r.* FROM unnest($2::text[]) AS w (key), LATERAL (
            SELECT \(columns) FROM \(table) x
             WHERE x.app_id\(isAppFirst ? "" : " + 0") = $1::integer AND x.\(key) = w.key OFFSET 0) r
        """
    }

    /// A statement that removes the rows; it has the same parameters as ``select(_:from:by:isAppFirst:)``.
    ///
    /// - Parameters:
    ///   - key: The column with the keys.
    ///   - condition: A condition on further columns of a row `x`.
    ///   - isAppFirst: Whether the index begins with the app; otherwise it begins with the key.
    package static func delete(
        from table: String,
        by key: String,
        type: String = "text",
        _ condition: String = "true",
        isAppFirst: Bool = true
    ) -> String {
        """
        DELETE FROM \(table) x USING (SELECT $1::integer AS app_id, k.key::\(type) FROM unnest($2::text[]) AS k (key) OFFSET 0) w
         WHERE x.app_id\(isAppFirst ? "" : " + 0") = w.app_id AND x.\(key) = w.key AND \(condition)
        """
    }
}
