package import Postgres

/// The tables and views of which the session's role may read at least one column.
///
/// The role for analysts may read only views; commands that show the ledger use them, or leave a part out.
package struct Readable {
    private let names: Set<String>

    package init(_ connection: borrowing PostgresConnection) throws {
        names = Set(
            try connection.run(
                """
                SELECT relname::text AS name FROM pg_class
                 WHERE relnamespace = to_regnamespace(quote_ident(current_schema())) AND relkind IN ('r', 'p', 'v')
                   AND has_any_column_privilege(oid, 'SELECT')
                """
            ).map { try $0.text("name") }
        )
    }

    package func contains(_ names: String...) -> Bool { names.allSatisfy(self.names.contains) }

    /// The first relation that can be read; the first of all if none can, so that PostgreSQL's refusal names it.
    package func first(of table: String, _ view: String) -> String {
        !names.contains(table) && names.contains(view) ? view : table
    }
}
