import Hashing

/// The app's shared secret, which notifications of version 1 contain as their `password`.
///
/// Only its hash is kept, so no message and no memory dump shows the secret.
package struct SharedSecret: Sendable, CustomStringConvertible, CustomReflectable {
    private static let maximumByteCount = 256

    private let digest: [UInt8]

    package init(_ secret: String) {
        digest = SHA256.digest(of: Array(secret.utf8))
    }

    /// Reads a file that contains the secret and at most a line end.
    ///
    /// The same users may read it as a private key.
    ///
    /// - Throws: ``KeyFileError``.
    package static func load(file path: String) throws(KeyFileError) -> SharedSecret {
        do throws(SigningKey.Refusal) {
            var bytes = try SecretFile.contents(of: path)
            defer { bytes.cleanse() }
            let lineEnds = bytes.reversed().prefix { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }.count
            let word = bytes.dropLast(lineEnds)
            guard (1...maximumByteCount).contains(word.count), word.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw SigningKey.Refusal(reason: .notASecret)
            }
            return SharedSecret(String(decoding: word, as: UTF8.self))
        } catch {
            throw KeyFileError(path: path, reason: error.reason, content: .sharedSecret)
        }
    }

    /// Whether the text is the secret, in a time that does not depend on either.
    package func matches(_ text: String) -> Bool {
        let other = SHA256.digest(of: Array(text.utf8))
        var difference: UInt8 = 0
        for (left, right) in zip(digest, other) { difference |= left ^ right }
        return difference == 0
    }

    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
