/// A session that holds a lock on a table or view, or has a transaction open.
///
/// Its texts are safe to print.
package struct LockHolder: Equatable, Sendable, CustomStringConvertible {
    /// The process ID for `pg_terminate_backend`.
    package let processID: Int64
    package let user: String
    /// The session's `application_name`; empty if it has none.
    package let application: String
    /// When its transaction began, in UTC; `nil` if the role may not see it.
    package let since: String?
    /// Its strongest lock, such as `ExclusiveLock`.
    package let mode: String
    /// The table or view that is locked; `transaction` and its number for a transaction that is waited for.
    package let relation: String

    package var description: String {
        let application = application.isEmpty ? "without a name" : "\"\(application)\""
        let since = since.map { ", in a transaction since \($0) UTC" } ?? ""
        return "process \(processID) (user \(user), application \(application)\(since), \(mode) on \(relation))"
    }
}

extension LockHolder {
    /// The most sessions that an error names.
    static let limit = 4

    /// Reads which sessions hold locks in the schema now.
    ///
    /// - Parameters:
    ///   - schema: Of the tables and views.
    ///   - connection: Another session than the one that waited.
    /// - Returns: At most ``limit``, strongest locks first, and open transactions of this database before those in
    ///   others.
    /// - Throws: ``PostgresError``.
    package static func all(
        in schema: String,
        _ scope: LockTimeout.Scope,
        on connection: borrowing PostgresConnection
    ) throws -> [LockHolder] {
        let table: Cell = if case .table(let name) = scope { .text(name) } else { .null }
        let transaction: Cell = if case .transactions(let number) = scope { .text(number) } else { .null }
        return try connection.run(
            .lockHolders,
            [
                "schema": .text(schema),
                "table": table,
                "with_readers": .boolean(scope == .schemaWithReaders),
                "most": .integer(Int32(limit)),
                "transaction": transaction,
            ]
        ).map { row in
            LockHolder(
                processID: try row.int64("pid"),
                user: try row.text("usename"),
                application: try row.text("application_name"),
                since: try row.textOrNil("since"),
                mode: try row.text("mode"),
                relation: try row.text("relname")
            )
        }
    }
}
