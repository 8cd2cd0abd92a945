/// How the server writes the values of an answer.
package enum ValueFormat: Int32, Sendable {
    /// As a person would read them.
    case text = 0
    /// As they lie in the server, a third of the work for bytes and moments: for answers of many rows.
    case binary = 1
}
