import Basics
import Glibc

extension SigningKey {
    static let maximumFileByteCount = 8 * 1_024

    /// Reads a .p8 file from App Store Connect.
    ///
    /// All checks use the open descriptor, so that the file cannot be replaced in between. Buffers with the key's text
    /// are overwritten before this function returns.
    ///
    /// - Throws: ``KeyFileError``; `notFound` means that the path is wrong.
    package static func load(file path: String) throws(KeyFileError) -> SigningKey {
        do throws(Refusal) {
            var text = try contents(ofFile: path)
            defer { text.cleanse() }
            return try SigningKey(pem: text)
        } catch {
            throw KeyFileError(path: path, reason: error.reason)
        }
    }

    /// The reason of a ``KeyFileError``, without the path.
    struct Refusal: Error {
        let reason: KeyFileError.Reason
    }

    /// Reads a file that only this user may access.
    ///
    /// The caller overwrites the bytes.
    static func contents(ofFile path: String) throws(Refusal) -> [UInt8] {
        // O_NONBLOCK: opening a FIFO must not block.
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: throw Refusal(reason: .notFound)
            case ELOOP: throw Refusal(reason: .symbolicLink)
            default: throw Refusal(reason: .unreadable(systemErrorText(errno)))
            }
        }
        defer { close(descriptor) }
        return try contents(of: descriptor)
    }

    private static func contents(of descriptor: Int32) throws(Refusal) -> [UInt8] {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else {
            throw Refusal(reason: .unreadable(systemErrorText(errno)))
        }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Refusal(reason: .notRegularFile) }
        guard status.st_uid == geteuid() else {
            throw Refusal(reason: .foreignOwner(owner: status.st_uid, process: geteuid()))
        }
        guard status.st_mode & 0o077 == 0 else {
            throw Refusal(reason: .tooPermissive(mode: status.st_mode & 0o7777))
        }
        guard status.st_size <= maximumFileByteCount else { throw Refusal(reason: .tooLong(Int64(status.st_size))) }
        guard status.st_size > 0 else { throw Refusal(reason: .empty) }
        var text = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < text.count {
            let remaining = text.count - count
            let length = unsafe text.withUnsafeMutableBytes {
                unsafe read(descriptor, $0.baseAddress.map { unsafe $0 + count }, remaining)
            }
            guard length != 0 else { break }
            if length < 0, errno == EINTR { continue }
            guard length > 0 else {
                text.cleanse()
                throw Refusal(reason: .unreadable(systemErrorText(errno)))
            }
            count += length
        }
        text.removeLast(text.count - count)
        return text
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
