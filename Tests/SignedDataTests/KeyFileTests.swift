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

    @Test(arguments: [0o600, 0o400] as [mode_t]) func `a key as Apple gives it is read and signs`(mode: mode_t) throws {
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

    @Test(arguments: [0o644, 0o640, 0o660, 0o604, 0o601] as [mode_t])
    func `JF10 a key that others can reach is refused with the command to run`(mode: mode_t) throws {
        let file = try scratch.write(pem, mode: mode)
        let error = refusal(of: file)
        #expect(error?.reason == .tooPermissive(mode: UInt32(mode)))
        #expect(error?.description.contains("chmod 600 \(file)") == true)
        check(error, isSilentAbout: pem)
    }

    @Test func `JF10 a symbolic link is refused`() throws {
        let link = scratch.path + "/link.p8"
        try #require(unsafe symlink(scratch.write(pem), link) == 0)
        #expect(refusal(of: link)?.reason == .symbolicLink)
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
