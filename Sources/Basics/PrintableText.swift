/// Makes text from outside safe for a message, a log or a terminal.
///
/// Control characters, format characters (which can reverse the reading direction) and line separators become escapes
/// such as `\n` or `\u{1B}`, so the result is one line.
///
/// - Parameters:
///   - text: Of any length.
///   - limit: The most characters (Unicode scalars) that are kept; `…` stands for the others.
///   - asciiOnly: Whether characters beyond ASCII are escaped, too; the sign for the others is then `...`.
///   - quoted: Whether the text is put in quotes, with quotes and backslashes in it escaped.
/// - Returns: The printable text.
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
        let isQuoting = quoted && (scalar == "\"" || scalar == "\\")
        if isQuoting || isUnprintable(scalar) || (asciiOnly && !scalar.isASCII) {
            printed += scalar.escaped(asASCII: true)
        } else {
            printed.unicodeScalars.append(scalar)
        }
    }
    return printed + quote
}

private func isUnprintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
}
