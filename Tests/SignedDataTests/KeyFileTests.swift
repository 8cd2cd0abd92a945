import Basics
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import SignedData

struct KeyFileTests {
    /// A directory of one's own, gone when the test is over.
    private final class Scratch {
        let path: String

        init() throws {
            path = FileManager.default.temporaryDirectory.appending(path: "storeledger-key-\(UUID().uuidString)").path
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }

        deinit {
            // A leftover directory in the system's temporary one is no reason to fail.
            try? FileManager.default.removeItem(atPath: path)
        }

        func write(_ text: String, mode: mode_t = 0o600) throws -> String {
            let file = path + "/SubscriptionKey_TEST.p8"
            try Data(text.utf8).write(to: URL(filePath: file))
            try #require(unsafe chmod(file, mode) == 0)
            return file
        }
    }

    private let scratch: Scratch
    private let pem: String

    init() throws {
        scratch = try Scratch()
        pem = try SigningKey.generate().pem.reveal()
    }

    private func refusal(of file: String) -> KeyFileError? {
        #expect(throws: KeyFileError.self) { try SigningKey.load(file: file) }
    }

    /// The message is one line, names the file, and has nothing of the file's content.
    private func check(_ error: KeyFileError?, isSilentAbout text: String) {
        let message = error?.description ?? ""
        #expect(message.contains(error?.path ?? "?"))
        #expect(!message.contains("\n"))
        for line in text.split(separator: "\n") where !line.hasPrefix("-----") && line.count > 8 {
            #expect(!message.contains(line.prefix(8)))
        }
    }

    private func pem(of kind: KeyKind, label: String = "PRIVATE KEY") throws -> String {
        PEMBlock.text(label: label, content: PrivateKeyInfo.der(of: try kind.generate()))
    }

    @Test(arguments: [0o600, 0o400, 0o640, 0o440] as [mode_t])
    func `a key as Apple gives it is read and signs, also through a group of this process`(mode: mode_t) throws {
        let message = Array("message".utf8)
        // Apple's file ends without a line feed; editors add some.
        for text in [pem, String(pem.dropLast()), pem + "\n"] {
            try #require(unsafe chmod(scratch.path, 0o700) == 0)
            // The earlier file may be read-only; a new one takes its place.
            _ = unsafe unlink(scratch.path + "/SubscriptionKey_TEST.p8")
            let key = try SigningKey.load(file: scratch.write(text, mode: mode))
            #expect(ES256.verify(signature: try key.signature(of: message), message: message, publicKey: key.publicKey))
            #expect(key.pem.reveal() == pem)
        }
    }

    @Test(arguments: [0o644, 0o604, 0o601, 0o444] as [mode_t])
    func `JF10 a key that others can reach is refused with the command to run`(mode: mode_t) throws {
        let file = try scratch.write(pem, mode: mode)
        let error = refusal(of: file)
        #expect(error?.reason == .tooPermissive(mode: UInt32(mode)))
        #expect(error?.description.contains("chmod 600 \(file)") == true)
        check(error, isSilentAbout: pem)
    }

    @Test func `JF10 a key that its group can change is refused`() throws {
        let error = refusal(of: try scratch.write(pem, mode: 0o660))
        #expect(error?.reason == .groupWritable(mode: 0o660))
        #expect(error?.description.contains("so its group can change it. Run chmod 640 ") == true)
    }

    /// `data` leads to `first`, as Kubernetes' `..data` does, and `key.p8` to the file behind it.
    private func mount(_ key: String, as version: String = "first", mode: mode_t = 0o440) throws -> String {
        let folder = scratch.path + "/" + version
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try Data(key.utf8).write(to: URL(filePath: folder + "/key.p8"))
        try #require(unsafe chmod(folder + "/key.p8", mode) == 0)
        let (data, link) = (scratch.path + "/data", scratch.path + "/key.p8")
        try #require(unsafe symlink(version, data + ".new") == 0)
        try #require(unsafe rename(data + ".new", data) == 0)
        if version == "first" { try #require(unsafe symlink("data/key.p8", link) == 0) }
        return link
    }

    @Test func `a key behind the links of a mounted secret is read, and read again when they change`() throws {
        let link = try mount(pem)
        // Kubernetes mounts a secret in a directory of this mode.
        try #require(unsafe chmod(scratch.path, 0o3777) == 0)
        #expect(try SigningKey.load(file: link).pem.reveal() == pem)
        let newer = try SigningKey.generate().pem.reveal()
        _ = try mount(newer, as: "second")
        #expect(try SigningKey.load(file: link).pem.reveal() == newer)
        // An absolute link, and a way that goes up again.
        let other = scratch.path + "/first/other.p8"
        try #require(unsafe symlink(scratch.path + "/first/../key.p8", other) == 0)
        #expect(try SigningKey.load(file: other).pem.reveal() == newer)
    }

    @Test func `JF10 a link to a key that others can read is refused for the mode of the key`() throws {
        let error = refusal(of: try mount(pem, mode: 0o444))
        #expect(error?.reason == .tooPermissive(mode: 0o444))
        #expect(error?.description.contains("give a mounted secret the mode 0440") == true)
        check(error, isSilentAbout: pem)
    }

    @Test func `JF24 a link that another user can replace is refused`() throws {
        let link = try mount(pem)
        try #require(unsafe chmod(scratch.path, 0o777) == 0)
        let error = refusal(of: link)
        #expect(error?.reason == .replaceableLink(link, directory: scratch.path, mode: 0o777))
        #expect(error?.description.contains("Run chmod go-w \(scratch.path)") == true)
        // A directory without links in it may be anybody's: only the file counts.
        let direct = scratch.path + "/first/key.p8"
        try #require(unsafe chmod(scratch.path, 0o755) == 0)
        try #require(unsafe chmod(scratch.path + "/first", 0o777) == 0)
        #expect(try SigningKey.load(file: direct).pem.reveal() == pem)
        #expect(try SigningKey.load(file: link).pem.reveal() == pem)
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can change a link's owner."))
    func `JF24 another user's link is refused where its owner can replace it`() throws {
        let link = try mount(pem)
        try #require(unsafe lchown(link, 65_534, 65_534) == 0)
        #expect(try SigningKey.load(file: link).pem.reveal() == pem)
        try #require(unsafe chmod(scratch.path, 0o1777) == 0)
        #expect(refusal(of: link)?.reason == .replaceableLink(link, directory: scratch.path, mode: 0o1777))
        // The group of the directory is not one of this process.
        try #require(unsafe chown(scratch.path, 0, 65_534) == 0)
        try #require(unsafe chmod(scratch.path, 0o770) == 0)
        #expect(refusal(of: link)?.reason == .replaceableLink(link, directory: scratch.path, mode: 0o770))
    }

    @Test func `JF25 a link to nothing and a loop of links are refused by name`() throws {
        let (nothing, loop) = (scratch.path + "/nothing.p8", scratch.path + "/loop.p8")
        try #require(unsafe symlink("gone/key.p8", nothing) == 0)
        try #require(unsafe symlink("loop.p8", loop) == 0)
        let missing = refusal(of: nothing)
        #expect(missing?.reason == .missingTarget(link: nothing))
        #expect(missing?.status == .missingInput)
        #expect(refusal(of: loop)?.reason == .linkLoop)
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can give a file to any group."))
    func `JF26 a key of a group to which this process does not belong is refused`() throws {
        let file = try scratch.write(pem, mode: 0o640)
        try #require(unsafe chown(file, 0, 65_534) == 0)
        let error = refusal(of: file)
        #expect(error?.reason == .foreignGroup(65_534, mode: 0o640))
        #expect(error?.description.contains("this process is not in that group. Run chmod 600 \(file)") == true)
        // Without permissions of the group, its number says nothing.
        try #require(unsafe chmod(file, 0o600) == 0)
        #expect(try SigningKey.load(file: file).pem.reveal() == pem)
    }

    @Test func `JF26 a key that an access list opens to another user is refused`() throws {
        let file = try scratch.write(pem, mode: 0o640)
        typealias SetAttribute =
            @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafePointer<UInt8>, Int, Int32) -> Int32
        guard let symbol = unsafe dlsym(nil, "setxattr") else { preconditionFailure("the C library has setxattr") }
        let setAttribute = unsafe unsafeBitCast(symbol, to: SetAttribute.self)
        // Tag, permissions and ID of each entry: owner rw, user 65534 r, group none, mask r, others none.
        let entries: [(tag: UInt8, permissions: UInt8, id: [UInt8])] = [
            (0x01, 6, [255, 255, 255, 255]), (0x02, 4, [254, 255, 0, 0]), (0x04, 0, [255, 255, 255, 255]),
            (0x10, 4, [255, 255, 255, 255]), (0x20, 0, [255, 255, 255, 255]),
        ]
        let list: [UInt8] = [2, 0, 0, 0] + entries.flatMap { [$0.tag, 0, $0.permissions, 0] + $0.id }
        guard unsafe setAttribute(file, "system.posix_acl_access", list, list.count, 0) == 0 else {
            // The file system has no access lists.
            return #expect(errno == ENOTSUP)
        }
        #expect(refusal(of: file)?.reason == .accessList)
        // The mask now takes the user's right away.
        try #require(unsafe chmod(file, 0o600) == 0)
        #expect(try SigningKey.load(file: file).pem.reveal() == pem)
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can change a file's owner."))
    func `another user's key for a group of this process is read`() throws {
        let file = try scratch.write(pem, mode: 0o640)
        try #require(unsafe chown(file, 65_534, getegid()) == 0)
        #expect(try SigningKey.load(file: file).pem.reveal() == pem)
    }

    @Test(.enabled(if: geteuid() == 0, "Only root can change a file's owner."))
    func `JF10 a key of another user is refused`() throws {
        let file = try scratch.write(pem)
        try #require(unsafe chown(file, 65_534, 65_534) == 0)
        let error = refusal(of: file)
        #expect(error?.reason == .foreignOwner(owner: 65_534, process: 0))
        // To give the key to root would break a job that runs as its owner.
        #expect(
            error?.description.contains(
                "Run the command as the user that runs the job; if that is user 0, run chown 0 "
            ) == true
        )
    }

    @Test func `a directory and a pipe are refused without waiting`() throws {
        #expect(refusal(of: scratch.path)?.reason == .notRegularFile)
        let pipe = scratch.path + "/pipe"
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        #expect(refusal(of: pipe)?.reason == .notRegularFile)
    }

    @Test func `the command to run survives a shell`() throws {
        let directory = scratch.path + "/it's here"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let file = directory + "/key.p8"
        try Data(pem.utf8).write(to: URL(filePath: file))
        try #require(unsafe chmod(file, 0o644) == 0)
        #expect(refusal(of: file)?.description.contains(#"chmod 600 '\#(scratch.path)/it'\''s here/key.p8'"#) == true)
    }

    @Test func `a missing file is a separate case`() {
        #expect(refusal(of: scratch.path + "/none.p8")?.reason == .notFound)
        #expect(refusal(of: "")?.reason == .notFound)
    }

    @Test func `a path with a tilde says that it is not expanded`() {
        for path in ["/srv/jobs/~/k.p8", "~/k.p8"] {
            let error = KeyFileError(path: path, reason: .notFound)
            #expect(
                error.description.contains("~ stands for no folder in a job file: write the whole path"),
                "\(error)"
            )
        }
    }

    @Test func `JF11 a key file whose lines end in CRLF is read`() throws {
        let path = try scratch.write(pem.replacing("\n", with: "\r\n"))
        #expect(try SigningKey.load(file: path).pem.reveal() == pem)
    }

    @Test func `JF11 each wrong content has its own reason and no key bytes in the message`() throws {
        let block = pem.split(separator: "\n").dropFirst().dropLast().joined(separator: "\n")
        let certificate = try IssuedCertificate.selfSigned(ChainTests.rootShape)
        let cases: [(String, KeyFileError.Reason)] = try [
            ("", .empty),
            (PEMBlock.text(label: "CERTIFICATE", content: certificate.der), .certificate),
            (pem(of: .rsa2048), .wrongAlgorithm("an RSA key")),
            (pem(of: .p384), .wrongAlgorithm("an EC key on P-384")),
            (pem(of: .ed25519), .wrongAlgorithm("a key of another kind")),
            (pem(of: .secp256k1), .wrongAlgorithm("a key of another kind")),
            (pem(of: .explicitP256), .wrongAlgorithm("a key of another kind")),
            (pem(of: .p256, label: "ENCRYPTED PRIVATE KEY"), .encrypted),
            (pem(of: .p256, label: "EC PRIVATE KEY"), .notPKCS8("a block of type EC PRIVATE KEY")),
            (pem + pem, .severalKeys),
            (pem.replacing("\n", with: "\r"), .notPEM),
            (pem + "trailing junk\n", .notPEM), ("leading junk\n" + pem, .notPEM), (pem + " ", .notPEM),
            ("0\u{82}\r\n\u{02}", .notPEM), (block, .notPEM), (String(pem.dropLast(3)), .notPEM),
            (String(pem.prefix(60)), .notPEM),
            (pem.replacing("MI", with: "\u{1B}["), .notPEM), ("\u{FEFF}" + pem, .notPEM),
            (PEMBlock.text(label: "PRIVATE KEY", content: [0x30, 0x01, 0x00]), .damaged),
            (PEMBlock.text(label: "PRIVATE KEY", content: damagedKeyInfo), .damaged),
            (String(repeating: "A", count: 8_193), .tooLong(8_193)),
        ]
        for (text, reason) in cases {
            let error = refusal(of: try scratch.write(text))
            #expect(error?.reason == reason)
            check(error, isSilentAbout: text)
        }
    }

    @Test func `a key in a variable is read with line ends of any kind, and with the two characters of an escaped one`()
        throws
    {
        let oneLine = pem.replacing("\n", with: "\\n")
        for text in [
            pem, String(pem.dropLast()), pem.replacing("\n", with: "\r\n"), oneLine, String(oneLine.dropLast(2)),
            pem.replacing("\n", with: "\\r\\n"),
        ] {
            #expect(try SigningKey.load(text: text, ofVariable: "KEY").pem.reveal() == pem)
        }
    }

    @Test func `JF27 each wrong content of a variable has its own reason and no key bytes in the message`() throws {
        let cases: [(String, KeyFileError.Reason, String)] = try [
            (pem.replacing("\n", with: " "), .notPEM, "with its line ends or \\n in their place"),
            ("/etc/storeledger/key.p8", .notPEM, "a path belongs into privateKeyFile"),
            (pem + pem, .severalKeys, "more than one PEM block"),
            (pem(of: .rsa2048), .wrongAlgorithm("an RSA key"), "an RSA key"),
            (pem(of: .p256, label: "EC PRIVATE KEY"), .notPKCS8("a block of type EC PRIVATE KEY"), "PKCS#8"),
            (PEMBlock.text(label: "CERTIFICATE", content: [0x30, 0x00]), .certificate, "Set the variable to the text"),
            (String(repeating: "A", count: 8_193), .tooLong(8_193), "8193 bytes"),
        ]
        for (text, reason, words) in cases {
            let error = #expect(throws: KeyFileError.self) { try SigningKey.load(text: text, ofVariable: "KEY") }
            #expect(error?.reason == reason)
            #expect(error?.status == .configuration)
            let message = error?.description ?? ""
            #expect(message.hasPrefix("The private key in ${KEY} cannot be used: "), "\(message)")
            #expect(message.contains(words), "\(message)")
            check(error, isSilentAbout: text)
        }
    }

    /// Right version and algorithm around a private key that is none.
    private var damagedKeyInfo: [UInt8] {
        der(0x30, der(0x02, [0x00]), KeyAlgorithm.p256, der(0x04, [0x01, 0x02, 0x03]))
    }

    @Test func `a key never shows itself`() throws {
        let key = try SigningKey.generate()
        var dumped = ""
        dump(key, to: &dumped)
        #expect("\(key) \(String(reflecting: key)) \(dumped)".contains("handle") == false)
        #expect("\(key.pem) \(String(reflecting: key.pem))" == "<redacted> <redacted>")
    }
}
