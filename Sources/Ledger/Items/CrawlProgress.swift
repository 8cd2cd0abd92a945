/// The tables with the crawl progress of listed IDs: items and coverage gaps.
///
/// The primary key of both begins with `app_id`, `job`, `stream` and `item_key`.
package enum CrawlProgress {
    /// The names of the tables.
    package static let tables = ["crawl_items", "coverage_gaps"]

    /// A subquery for the rows with some item keys, of any job and stream.
    ///
    /// It returns `app_id`, `job`, `stream` and `item_key`. The primary key begins with app, job and stream. There are few
    /// pairs of the last two, and one index lookup finds the next pair, so other rows are not read. Parameter 1 of the
    /// statement is the app.
    ///
    /// - Parameters:
    ///   - table: One of ``tables``.
    ///   - keys: The parameter with the item keys, as text[]; for example `$2`.
    /// - Returns: The subquery, in parentheses.
    package static func rows(in table: String, withKeys keys: String) -> String {
        """
        (WITH RECURSIVE pairs AS (
             (SELECT i.job, i.stream FROM \(table) i WHERE i.app_id = $1::integer ORDER BY i.job, i.stream LIMIT 1)
             UNION ALL
             SELECT n.job, n.stream FROM pairs p, LATERAL (
                 SELECT i.job, i.stream FROM \(table) i WHERE i.app_id = $1 AND (i.job, i.stream) > (p.job, p.stream)
                  ORDER BY i.job, i.stream LIMIT 1) n
         )
         SELECT i.app_id, i.job, i.stream, i.item_key
           FROM pairs p, unnest(\(keys)::text[]) AS w (id), LATERAL (
                SELECT i.app_id, i.job, i.stream, i.item_key FROM \(table) i
                 WHERE i.app_id = $1 AND i.job = p.job AND i.stream = p.stream AND i.item_key = w.id OFFSET 0) i)
        """
    }
}
