/// The format of the values in a result.
package enum ValueFormat: Int32, Sendable {
    /// PostgreSQL's text output.
    case text = 0
    /// The binary format, which takes a third of the work for bytes and moments: for results with many rows.
    case binary = 1
}
