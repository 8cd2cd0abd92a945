/// Makes a server's text safe to log: at most 512 characters of printable ASCII, without tokens.
///
/// Other characters are escaped, such as `\u{1b}`. Text that looks like a JWT or a signed payload becomes `<redacted>`,
/// because a server may echo the request's bearer token.
func sanitized(_ words: String) -> String {
    let limit = 512
    let ellipsis = "..."
    var text = ""
    for piece in pieces(of: words.unicodeScalars.prefix(4_096)) {
        guard text.utf8.count + piece.utf8.count <= limit - ellipsis.utf8.count else { return text + ellipsis }
        text += piece
    }
    return text
}

/// Splits the text into pieces that must not be cut: one printable character, one escape, or one redaction.
private func pieces(of scalars: String.UnicodeScalarView.SubSequence) -> [String] {
    var pieces: [String] = []
    var rest = scalars
    while let scalar = rest.first {
        if rest.starts(with: "eyJ".unicodeScalars) {
            rest = rest.drop(while: isTokenCharacter)
            pieces.append("<redacted>")
        } else {
            rest.removeFirst()
            pieces.append(escaped(scalar))
        }
    }
    return pieces
}

/// Base64url and dots, and `+ / = %` for other encodings that a server might echo.
private func isTokenCharacter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "A"..."Z", "a"..."z", "0"..."9", "-", "_", ".", "+", "/", "=", "%": true
    default: false
    }
}

private func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\\": #"\\"#
    case " "..."~": String(scalar)
    default: #"\u{"# + String(scalar.value, radix: 16) + "}"
    }
}
