import Foundation
import HTTPTransport

/// One `openssl s_server` with a fresh self-signed certificate for `localhost`.
struct OpenSSLServer {
    static var isInstalled: Bool { (try? Command("openssl", "version").wait()) == 0 }  // any failure means "not usable"

    let port: Int
    let certificate: String
    private let directory: URL
    private let command: Command

    init(_ options: String...) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "storeledger-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        certificate = directory.appending(path: "cert.pem").path
        let key = directory.appending(path: "key.pem").path
        let status = try Command(
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
            "-keyout",
            key,
            "-out",
            certificate
        ).wait()
        guard status == 0 else { throw Unusable() }
        command = try Command(
            ["openssl", "s_server", "-accept", "127.0.0.1:0", "-www", "-cert", certificate, "-key", key] + options
        )
        // It says "ACCEPT 127.0.0.1:41235" once it listens.
        while true {
            guard let line = command.readLine() else { throw Unusable() }
            guard line.hasPrefix("ACCEPT"), let port = line.split(separator: ":").last.flatMap({ Int($0) }) else {
                continue
            }
            self.port = port
            break
        }
    }

    func stop() {
        command.stop()
        try? FileManager.default.removeItem(at: directory)  // a leftover directory harms nobody
    }

    func get(_ url: String, trusting caFile: String) async throws -> HTTPResponse {
        try await withTransport {
            $0.caFile = caFile
        } _: {
            try await $0.send(HTTPRequest(.get, url))
        }
    }

    struct Unusable: Error {}
}
