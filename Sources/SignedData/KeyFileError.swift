package import Basics

/// Why the file of a private key or of the shared secret cannot be used, and how to correct it.
///
/// It contains no byte of the file.
package struct KeyFileError: ExplainedError, Equatable, CustomStringConvertible {
    /// What the file should contain.
    package enum Content: Sendable {
        case privateKey
        case sharedSecret
    }

    package enum Reason: Equatable, Sendable {
        /// There is no such file.
        case notFound
        case unreadable(String)
        case symbolicLink
        case notRegularFile
        /// The file belongs to another user; with the user IDs of the owner and of this process.
        case foreignOwner(owner: UInt32, process: UInt32)
        /// Group or others have permissions; with the permission bits.
        case tooPermissive(mode: UInt32)
        /// With the number of bytes.
        case tooLong(Int64)
        case empty
        case certificate
        case encrypted
        case severalKeys
        /// A private key that is not in PKCS#8; with the PEM label.
        case notPKCS8(String)
        /// A key of another algorithm or curve; with its description.
        case wrongAlgorithm(String)
        /// The file is not exactly one PEM block.
        case notPEM
        /// Label and algorithm say that it is a P-256 PKCS#8 key, but the key cannot be read.
        case damaged
        /// The shared secret is not one word.
        case notASecret
    }

    package let path: String
    package let reason: Reason
    package var content = Content.privateKey

    package var description: String {
        switch content {
        case .privateKey: "The private key file \(printablePath) cannot be used: \(explanation)"
        case .sharedSecret: "The shared secret file \(printablePath) cannot be used: \(secretExplanation)"
        }
    }

    /// For the shared secret; the reasons that are about access are the same as for a key.
    private var secretExplanation: String {
        switch reason {
        case .unreadable, .symbolicLink, .foreignOwner, .tooPermissive: explanation
        case .notFound: "there is no such file. Write the app's shared secret from App Store Connect into it."
        default:
            "it must contain only the app's shared secret from App Store Connect: one word of at most 256 printable characters."
        }
    }

    private var explanation: String {
        switch reason {
        case .notFound where path.hasPrefix("~/") || path.contains("/~/"):
            "there is no such file. ~ stands for no folder in a job file: write the whole path, or ${HOME}/ in its place."
        case .notFound:
            "there is no such file. Download the key from App Store Connect, which offers it once, and give its path."
        case .unreadable(let cause):
            "it cannot be read (\(cause)). Give only this user permission to read it."
        case .symbolicLink:
            "it is a symbolic link. Give the path of the file itself."
        case .notRegularFile:
            "it is not a regular file. Give the path of the .p8 file from App Store Connect."
        case .foreignOwner(let owner, let process):
            "it belongs to user \(owner), but this process runs as user \(process). Run the command as the user that runs the job; if that is user \(process), run chown \(process) \(shellPath)."
        case .tooPermissive(let mode):
            "its mode is 0\(String(mode, radix: 8)), so other users can access it. Run chmod 600 \(shellPath)."
        case .tooLong(let count):
            "it has \(count) bytes; a .p8 file has about 250, and at most \(SigningKey.maximumFileByteCount) are read."
        case .empty:
            "it is empty. Download the key again or restore it from your secret store."
        case .certificate:
            "it contains a certificate, not a private key. Give the path of the .p8 file from App Store Connect."
        case .encrypted:
            "the key in it is encrypted. Use the .p8 file as Apple gave it, or decrypt it with openssl pkcs8."
        case .severalKeys:
            "it contains more than one PEM block. Keep only the private key."
        case .notPKCS8(let label):
            "it contains \(label), not a PKCS#8 private key. Convert it with openssl pkcs8 -topk8 -nocrypt."
        case .wrongAlgorithm(let found):
            "it contains \(found); App Store keys are EC keys on the named curve P-256."
        case .notPEM:
            "it must contain exactly one PEM block and nothing else. Use the .p8 file exactly as Apple gave it."
        case .damaged, .notASecret:
            "the key in it is damaged. Download the key again or restore it from your secret store."
        }
    }

    private var printablePath: String {
        // The path comes from the job file.
        printable(path)
    }

    /// The path in the shell commands above.
    private var shellPath: String {
        let isPlain = path.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "/") || (0x2B...0x3A).contains(byte) || (0x40...0x5A).contains(byte)
                || byte == UInt8(ascii: "_") || (0x61...0x7A).contains(byte)
        }
        return isPlain
            ? path
            : "'" + printablePath.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
                + "'"
    }

    package var status: ExitStatus { reason == .notFound ? .missingInput : .configuration }
}
