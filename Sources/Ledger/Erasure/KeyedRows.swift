import LedgerTables

/// Statements about the rows of a table with certain keys, each found by itself in an index.
///
/// `key = ANY (…)` is no such statement: where the planner's statistics are of a smaller table, it may read every row of the
/// app and compare the keys afterwards. `OFFSET 0` leaves it no choice, and rows by their place (`ctid`) neither.
enum KeyedRows {
    /// The places of the rows, as a subquery; parameter 1 is the app, parameter 2 the keys, as text[].
    ///
    /// - Parameters:
    ///   - table: Its name.
    ///   - key: The column with the keys.
    ///   - type: Of that column.
    ///   - condition: On a row `x`, further columns of the index.
    ///   - isAppFirst: Whether the index begins with the app; otherwise it begins with the key.
    /// - Returns: The subquery, in parentheses; its column is `place`.
    static func places(
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

    /// Removes the rows; for tables whose rows nobody changes meanwhile, as a row that moves is missed.
    static func delete(
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
