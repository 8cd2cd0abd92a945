/// Statements for the rows of a table with given keys, in which each key is looked up in an index.
///
/// `key = ANY (…)` does not guarantee this: with statistics from a smaller table, the planner can read every row of the
/// app and then compare the keys. `OFFSET 0` and selection by `ctid` prevent that.
package enum KeyedRows {
    /// A subquery for the `ctid` of the rows; parameter 1 is the app, parameter 2 the keys as text[].
    ///
    /// - Parameters:
    ///   - table: The name of the table.
    ///   - key: The column with the keys.
    ///   - type: The type of that column.
    ///   - condition: A condition on further index columns of a row `x`.
    ///   - isAppFirst: Whether the index begins with the app; otherwise it begins with the key.
    /// - Returns: The subquery, in parentheses; its column is `place`.
    package static func places(
        in table: String,
        by key: String,
        type: String = "text",
        _ condition: String = "true",
        isAppFirst: Bool = true
    ) -> String {
        """
        (SELECT r.place FROM unnest($2::text[]) AS w (key), LATERAL (
             SELECT x.ctid AS place FROM \(table) x
              WHERE x.app_id\(isAppFirst ? "" : " + 0") = $1::integer AND \(condition) AND x.\(key) = w.key::\(type) OFFSET 0) r)
        """
    }

    /// A statement that removes the rows; its parameters are those of ``places(in:by:type:_:isAppFirst:)``.
    ///
    /// It misses a row that a concurrent update moves, so use it only for tables whose rows no other
    /// session updates meanwhile.
    package static func delete(
        from table: String,
        by key: String,
        type: String = "text",
        _ condition: String = "true",
        isAppFirst: Bool = true
    ) -> String {
        let places = places(in: table, by: key, type: type, condition, isAppFirst: isAppFirst)
        return "DELETE FROM \(table) WHERE ctid = ANY (ARRAY\(places))"
    }
}
