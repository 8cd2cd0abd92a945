import Foundation
import HTTPTransport

/// One `openssl s_server` with a fresh self-signed certificate for `localhost`.
struct OpenSSLServer {
    static var isInstalled: Bool { (try? Command("openssl", "version").wait()) == 0 }  // any failure means "not usable"

    let port: Int
    let certificate: String
    private let directory: URL
    private let command: Command

    /// Starts `s_server` with `options`; its certificate has `extensions` as `-addext` takes them, and is valid for 30 days
    /// from so many `days` on, or for two from now.
    init(_ options: String..., extensions: [String] = [], validFrom days: Int? = nil) throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "storeledger-\(UUID())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        certificate = directory.appending(path: "cert.pem").path
        let key = directory.appending(path: "key.pem").path
        let own = [
            "openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
            "/CN=localhost",
            "-keyout", key, "-out", certificate,
        ]
        let added = (["subjectAltName=DNS:localhost"] + extensions).flatMap { ["-addext", $0] }
        guard try Command(own + added + (days == nil ? ["-x509", "-days", "2"] : [])).wait() == 0 else {
            throw Unusable()
        }
        if let days { try Self.sign(certificate, by: key, in: directory, from: days) }
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

    /// Makes a certificate of the request in its own place; only `openssl ca` lets its dates be chosen.
    private static func sign(_ request: String, by key: String, in directory: URL, from days: Int) throws {
        let settings = """
            [ca]
            default_ca = authority
            [authority]
            database = \(directory.path)/database
            serial = \(directory.path)/serial
            new_certs_dir = \(directory.path)
            default_md = sha256
            policy = any
            copy_extensions = copy
            [any]
            commonName = supplied
            """
        for (name, text) in [("settings", settings), ("database", ""), ("serial", "01\n")] {
            try Data(text.utf8).write(to: directory.appending(path: name))
        }
        func moment(_ days: Int) -> String {
            let date = Date.now.addingTimeInterval(Double(days) * 86_400).ISO8601Format()
            return date.filter { $0 != "-" && $0 != ":" && $0 != "T" }
        }
        let status = try Command(
            "openssl",
            "ca",
            "-batch",
            "-selfsign",
            "-config",
            directory.appending(path: "settings").path,
            "-in",
            request,
            "-keyfile",
            key,
            "-startdate",
            moment(days),
            "-enddate",
            moment(days + 30),
            "-notext",
            "-out",
            request
        ).wait()
        guard status == 0 else { throw Unusable() }
    }

    func stop() {
        command.stop()
        try? FileManager.default.removeItem(at: directory)  // a leftover directory is harmless
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
