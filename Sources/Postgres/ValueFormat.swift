/// The format of the values in a result.
package enum ValueFormat: Int32, Sendable {
    /// PostgreSQL's text output.
    case text = 0
    /// PostgreSQL's binary format, for results with many rows: reading bytes and moments takes a third of the time.
    case binary = 1
}
