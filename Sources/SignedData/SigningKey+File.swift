extension SigningKey {
    static let maximumFileByteCount = 8 * 1_024

    /// Reads a .p8 file from App Store Connect.
    ///
    /// Buffers with the key's text are overwritten before this function returns.
    ///
    /// - Throws: ``KeyFileError``; `notFound` means that the path is wrong.
    package static func load(file path: String) throws(KeyFileError) -> SigningKey {
        do throws(Refusal) {
            var text = try SecretFile.contents(of: path)
            defer { text.cleanse() }
            return try SigningKey(pem: text)
        } catch {
            throw KeyFileError(path: path, reason: error.reason)
        }
    }

    /// Reads the text of a .p8 file from the value of an environment variable.
    ///
    /// Many ways to set a variable take only one line, so `\n` and `\r` can stand in place of line ends. PEM has no backslash.
    ///
    /// - Parameter name: Of the variable, for the error.
    /// - Throws: ``KeyFileError``.
    package static func load(text: String, ofVariable name: String) throws(KeyFileError) -> SigningKey {
        do throws(Refusal) {
            let value = text.replacing("\\r", with: "\r").replacing("\\n", with: "\n")
            var bytes = Array(value.utf8)
            defer { bytes.cleanse() }
            guard bytes.count <= maximumFileByteCount else { throw Refusal(reason: .tooLong(Int64(bytes.count))) }
            return try SigningKey(pem: bytes)
        } catch {
            throw KeyFileError(path: "${\(name)}", reason: error.reason, content: .privateKeyVariable)
        }
    }

    /// The reason of a ``KeyFileError``, without the path.
    struct Refusal: Error {
        let reason: KeyFileError.Reason
    }

    private init(pem text: [UInt8]) throws(Refusal) {
        guard var blocks = PEMBlock.parse(text), !blocks.isEmpty else { throw Refusal(reason: .notPEM) }
        // In place, because a copy would leave the original bytes in memory.
        defer { for index in blocks.indices { blocks[index].content.cleanse() } }
        guard blocks.count == 1 else { throw Refusal(reason: .severalKeys) }
        switch blocks[0].label {
        case PrivateKeyInfo.label: break
        case "CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CERTIFICATE": throw Refusal(reason: .certificate)
        case "ENCRYPTED PRIVATE KEY": throw Refusal(reason: .encrypted)
        case "EC PRIVATE KEY", "RSA PRIVATE KEY", "DSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PUBLIC KEY":
            throw Refusal(reason: .notPKCS8("a block of type " + blocks[0].label))
        default: throw Refusal(reason: .notPEM)
        }
        guard let algorithm = KeyAlgorithm.ofPrivateKeyInfo(blocks[0].content) else { throw Refusal(reason: .damaged) }
        switch algorithm {
        case KeyAlgorithm.p256: break
        case KeyAlgorithm.p384: throw Refusal(reason: .wrongAlgorithm("an EC key on P-384"))
        case KeyAlgorithm.rsa: throw Refusal(reason: .wrongAlgorithm("an RSA key"))
        default: throw Refusal(reason: .wrongAlgorithm("a key of another kind"))
        }
        guard let handle = PrivateKeyInfo.key(der: blocks[0].content) else { throw Refusal(reason: .damaged) }
        self.init(handle: handle)
    }
}
