/// What a transaction sees of concurrent commits; PostgreSQL manual, "Transaction Isolation".
package enum IsolationLevel: String, Sendable {
    case readCommitted = "READ COMMITTED"
    case repeatableRead = "REPEATABLE READ"
    case serializable = "SERIALIZABLE"
    /// One snapshot for all statements, without writing.
    case readOnlySnapshot = "REPEATABLE READ, READ ONLY"
}
