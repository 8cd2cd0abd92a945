package import Basics

/// Why a private key or the file of the shared secret cannot be used, and how to correct it.
///
/// It contains no byte of the key or the secret.
package struct KeyFileError: ExplainedError, Equatable, CustomStringConvertible {
    /// What the file or the variable should contain.
    package enum Content: Sendable {
        case privateKey
        /// In an environment variable.
        case privateKeyVariable
        case sharedSecret
    }

    package enum Reason: Equatable, Sendable {
        /// There is no such file.
        case notFound
        case unreadable(String)
        /// The last link leads to no file.
        case missingTarget(link: String)
        /// More than 40 links.
        case linkLoop
        /// Another user can replace a link; with the permission bits of its directory.
        case replaceableLink(String, directory: String, mode: UInt32)
        case notRegularFile
        /// The file belongs to another user, and not to a group of this process that may read it; with the user IDs of the owner and
        /// of this process.
        case foreignOwner(owner: UInt32, process: UInt32)
        /// Others have permissions; with the permission bits.
        case tooPermissive(mode: UInt32)
        case groupWritable(mode: UInt32)
        /// A group can read the file, and this process is not in it.
        case foreignGroup(UInt32, mode: UInt32)
        /// An access list can permit others to read the file.
        case accessList
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

    /// Of the file, or the variable as it is written in the job file.
    package let path: String
    package let reason: Reason
    package var content = Content.privateKey

    package var description: String {
        switch content {
        case .privateKey: "The private key file \(printablePath) cannot be used: \(explanation)"
        case .privateKeyVariable: "The private key in \(printablePath) cannot be used: \(variableExplanation)"
        case .sharedSecret: "The shared secret file \(printablePath) cannot be used: \(secretExplanation)"
        }
    }

    /// For the shared secret; the reasons that are about access are the same as for a key.
    private var secretExplanation: String {
        switch reason {
        case .unreadable, .missingTarget, .linkLoop, .replaceableLink, .foreignOwner, .tooPermissive, .groupWritable,
            .foreignGroup, .accessList:
            explanation
        case .notFound: "there is no such file. Write the app's shared secret from App Store Connect into it."
        default:
            "it must contain only the app's shared secret from App Store Connect: one word of at most 256 printable characters."
        }
    }

    /// For a variable; the reasons that are about the key are the same as for a file.
    private var variableExplanation: String {
        switch reason {
        case .tooLong(let count):
            "it has \(count) bytes; the text of a .p8 file has about 250, and at most \(SigningKey.maximumFileByteCount) are read."
        case .certificate: "it is a certificate, not a private key. Set the variable to the text of the .p8 file."
        case .notPEM:
            "it must be exactly one PEM block and nothing else, with its line ends or \\n in their place. Set the variable to the text of the .p8 file; a path belongs into privateKeyFile."
        default: explanation
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
        case .missingTarget(let link):
            "its link \(printable(link)) leads to no file. Correct the link, or mount the secret that it leads to."
        case .linkLoop:
            "its links lead in a circle, or there are more than 40 of them. Give the path of the file itself."
        case .replaceableLink(let link, let directory, let mode):
            "its link \(printable(link)) lies in \(printable(directory)) with mode 0\(String(mode, radix: 8)), where other users can replace it. Run chmod go-w \(Self.shellWord(directory)), or give the path of the file itself."
        case .notRegularFile:
            "it is not a regular file. Give the path of the .p8 file from App Store Connect."
        case .foreignOwner(let owner, let process):
            "it belongs to user \(owner), but this process runs as user \(process). Run the command as the user that runs the job; if that is user \(process), run chown \(process) \(shellPath)."
        case .tooPermissive(let mode):
            "its mode is 0\(String(mode, radix: 8)), so other users can access it. Run chmod 600 \(shellPath); give a mounted secret the mode 0440."
        case .groupWritable(let mode):
            "its mode is 0\(String(mode, radix: 8)), so its group can change it. Run chmod 640 \(shellPath)."
        case .foreignGroup(let group, let mode):
            "its mode is 0\(String(mode, radix: 8)), so group \(group) can read it, and this process is not in that group. Run chmod 600 \(shellPath), or start the process in the group."
        case .accessList:
            "an access list can permit other users to read it. Run setfacl -b \(shellPath)."
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

    private var shellPath: String { Self.shellWord(path) }

    /// A path in the shell commands above.
    private static func shellWord(_ path: String) -> String {
        let isPlain = path.utf8.allSatisfy { byte in
            byte == UInt8(ascii: "/") || (0x2B...0x3A).contains(byte) || (0x40...0x5A).contains(byte)
                || byte == UInt8(ascii: "_") || (0x61...0x7A).contains(byte)
        }
        return isPlain
            ? path
            : "'" + printable(path).split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
                + "'"
    }

    package var status: ExitStatus {
        switch reason {
        case .notFound, .missingTarget: .missingInput
        default: .configuration
        }
    }
}
