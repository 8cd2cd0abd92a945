import Basics

/// Quotes a name for SQL text; only names that need no quotes are accepted.
///
/// - Parameter name: A name of the form `[a-z_][a-z0-9_]*`, at most 63 characters.
/// - Returns: The name in double quotes.
/// - Throws: ``PostgresError`` with state 42602 for any other name.
package func quotedIdentifier(_ name: String) throws(PostgresError) -> String {
    func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "_")
    }
    let bytes = name.utf8
    guard let first = bytes.first, isLetter(first), bytes.count <= 63,
        bytes.allSatisfy({ isLetter($0) || isDigit($0) })
    else {
        throw PostgresError(
            .unsendableValue,
            .invalidName,
            "\"\(printable(name, limit: 80))\" cannot be used as a name; it must match [a-z_][a-z0-9_]{0,62}"
        )
    }
    return "\"\(name)\""
}
