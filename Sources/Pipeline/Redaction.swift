import FoundationEssentials

/// Removes what looks like a secret from text for people and logs.
///
/// Types keep secrets out of messages; this function is a second safeguard. It removes private keys in PEM, JWTs and
/// JWS, passwords in connection strings of both forms, and the credentials of object storage in the environment. It cannot tell a single line of a key from a path.
///
/// - Parameter text: Text of any length; it is read once, byte by byte.
/// - Returns: The text with `<redacted>` in place of each secret.
package func redacted(_ text: String) -> String {
    var bytes = Array(withoutCredentials(text).utf8)[...]
    var kept: [UInt8] = []
    kept.reserveCapacity(bytes.count)
    while let byte = bytes.first {
        if let secret = secretPrefix(of: bytes, after: kept.last) {
            kept += bytes.prefix(secret.shown) + Array("<redacted>".utf8)
            bytes = bytes.dropFirst(secret.shown + secret.hidden)
        } else {
            kept.append(byte)
            bytes = bytes.dropFirst()
        }
    }
    return String(decoding: kept, as: UTF8.self)
}

/// Values that only a secret has; a shorter one could be a word of a message.
private let credentials = ["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"]
    .compactMap { ProcessInfo.processInfo.environment[$0] }.filter { $0.utf8.count >= 8 }

private func withoutCredentials(_ text: String) -> String {
    credentials.reduce(text) { $0.contains($1) ? $0.replacing($1, with: "<redacted>") : $0 }
}

/// The number of bytes at the start that introduce a secret, and the number of bytes of the secret; `nil` if there is no
/// secret.
private func secretPrefix(of bytes: ArraySlice<UInt8>, after last: UInt8?) -> (shown: Int, hidden: Int)? {
    if bytes.starts(with: "-----BEGIN ".utf8) {
        let end = "-----END ".utf8
        let rest = bytes.indices.first { $0 > bytes.startIndex && bytes[$0...].starts(with: end) }
        return (0, (rest ?? bytes.endIndex) - bytes.startIndex)
    }
    for word in ["password=", "PASSWORD=", "passwd=", "AWS_SECRET_ACCESS_KEY=", "AWS_SESSION_TOKEN="]
    where bytes.starts(with: word.utf8) {
        return (word.utf8.count, valueLength(bytes.dropFirst(word.utf8.count)))
    }
    if bytes.starts(with: "://".utf8) {
        // Up to the last @ of the word, because a password can contain an @ that was not percent-encoded.
        let word = bytes.dropFirst(3).prefix { $0 > UInt8(ascii: " ") && $0 != UInt8(ascii: "\"") }
        guard let at = word.lastIndex(of: UInt8(ascii: "@")), let colon = word[..<at].firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return (colon + 1 - bytes.startIndex, at - colon - 1)
    }
    // Words are scanned only from their start, so that the same word is not scanned again from each of its bytes.
    let isWordStart = last.map { !isTokenByte($0) } ?? true
    guard isWordStart || bytes.starts(with: "eyJ".utf8) else { return nil }
    let run = bytes.prefix(while: isTokenByte)
    if run.starts(with: "eyJ".utf8), run.count >= 12 { return (0, run.count) }
    return nil
}

/// The length of a value in a connection string: quoted, or up to the next space, `&`, `;` or quote.
private func valueLength(_ bytes: ArraySlice<UInt8>) -> Int {
    guard bytes.first == UInt8(ascii: "'") else {
        return bytes.prefix { $0 > UInt8(ascii: " ") && !"&;\"'".utf8.contains($0) }.count
    }
    var isEscaped = false
    for (count, byte) in bytes.dropFirst().enumerated() {
        if !isEscaped, byte == UInt8(ascii: "'") { return count + 2 }
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
    }
    return bytes.count
}

/// Both base64 alphabets, the dots of a JWS, and `%` of percent-encoded characters.
private func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
    default: "+/=-_.%".utf8.contains(byte)
    }
}
