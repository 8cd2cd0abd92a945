package import Postgres

/// Decides which table a query of the job file reads by a name without a schema.
///
/// A database can contain tables of the user in addition to the ledger's.
package enum UserTables {
    /// A name that a query uses without a schema, and that both a schema of the user and the ledger's schema have.
    package struct SharedName: Equatable, Sendable {
        /// The table or view of the user, with its schema.
        package let own: String
        /// The ledger's table, with its schema.
        package let ledger: String
    }

    /// Runs `body` with a `search_path` in which the user's tables come before the ledger's.
    ///
    /// The user's part is the default `search_path` of the session's role.
    ///
    /// A query that names customers reads tables of the user. A view of the ledger with the same name must not take their place.
    ///
    /// - Parameter connection: Inside a transaction.
    /// - Throws: Errors of `body`, after which the transaction has failed; ``Postgres/PostgresError``.
    package static func first<R>(
        on connection: borrowing PostgresConnection,
        _ body: (borrowing PostgresConnection) throws -> R
    ) throws -> R {
        let before = try connection.run(
            "SELECT current_setting('search_path') AS path, current_schema() AS ledger",
            []
        )[0]
        try connection.script("SET LOCAL search_path TO DEFAULT")
        _ = try connection.run(
            """
            SELECT set_config('search_path', concat_ws(', ', string_agg(quote_ident(schema), ', ' ORDER BY place) FILTER (WHERE schema <> $1 AND schema NOT LIKE 'pg\\_temp\\_%'),
                                                       quote_ident($1::text), 'pg_temp'), true) AS path
              FROM unnest(current_schemas(false)) WITH ORDINALITY AS found (schema, place)
            """,
            [.text(try before.text("ledger"))]
        )
        let result = try body(connection)
        _ = try connection.run("SELECT set_config('search_path', $1, true) AS path", [.text(try before.text("path"))])
        return result
    }

    /// The names in a query that mean one relation or another, depending on the order of the schemas.
    ///
    /// - Parameters:
    ///   - sql: The query.
    ///   - connection: Inside a transaction.
    /// - Returns: The names, in their alphabetical order.
    /// - Throws: ``Postgres/PostgresError``.
    package static func sharedNames(
        in sql: String,
        on connection: borrowing PostgresConnection
    ) throws -> [SharedName] {
        let ledger = try connection.run("SELECT current_schema() AS ledger", [])[0].text("ledger")
        return try first(on: connection) { connection in
            try connection.run(
                .sharedNames,
                ["query": .text(sql), "ledger": .text(ledger)]
            ).map { SharedName(own: try $0.text("own"), ledger: try $0.text("ledger")) }
        }
    }
}

extension UserTables.SharedName {
    /// That a query with this key reads the table of the user.
    package func readsOwn(_ key: String) -> String {
        "\(key) reads \(own), not \(ledger) of the ledger. Write the schema to say which one is meant"
    }

    /// That a query with this key reads the relation of the ledger.
    package func readsLedger(_ key: String) -> String {
        "\(key) reads \(ledger) of the ledger, not \(own). Write the schema to say which one is meant"
    }
}
