/// Makes text from outside safe for a message, a log or a terminal.
///
/// Control characters, format characters (which can reverse the reading direction) and line separators become escapes
/// such as `\n` or `\u{1B}`, so the result is one line.
///
/// - Parameters:
///   - text: Of any length.
///   - limit: The most characters (Unicode scalars) that are kept; `…` at the end marks an omission.
///   - asciiOnly: Whether characters beyond ASCII are escaped, too; an omission is then marked by `...`.
///   - quoted: Whether the text is put in quotes, with quotes and backslashes in it escaped.
package func printable(
    _ text: some StringProtocol,
    limit: Int = 2_000,
    asciiOnly: Bool = false,
    quoted: Bool = false
) -> String {
    let quote = quoted ? "\"" : ""
    var printed = quote
    var count = 0
    for scalar in text.unicodeScalars {
        guard count < limit else { return printed + quote + (asciiOnly ? "..." : "…") }
        count += 1
        let needsQuoting = quoted && (scalar == "\"" || scalar == "\\")
        if needsQuoting || scalar.isUnprintable || (asciiOnly && !scalar.isASCII) {
            printed += scalar.escaped(asASCII: true)
        } else {
            printed.unicodeScalars.append(scalar)
        }
    }
    return printed + quote
}

extension Unicode.Scalar {
    /// Whether it can start a line, colour a terminal or change the reading direction.
    package var isUnprintable: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
