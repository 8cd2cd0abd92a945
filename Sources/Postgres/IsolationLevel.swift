/// How a transaction sees what others commit meanwhile; PostgreSQL manual, "Transaction Isolation".
package enum IsolationLevel: String, Sendable {
    case readCommitted = "READ COMMITTED"
    case repeatableRead = "REPEATABLE READ"
    case serializable = "SERIALIZABLE"
    /// One snapshot for every statement, and nothing is written.
    case readOnlySnapshot = "REPEATABLE READ, READ ONLY"
}
