import AppStoreAPI
import AppStoreModel
import Dispatch
import Glibc
import HTTPTransport
import SignedData
import Streams
import Synchronization
import TestSupport

/// A loopback server that answers every request with what a closure returns, and records the requests.
///
/// An answer with `Connection: close` is the last on its connection, however short it is.
final class ScriptedApple: Sendable {
    struct Request: Sendable {
        /// Method, path and query.
        let line: String
        let headers: [String]
        let body: String

        func header(_ name: String) -> String? {
            headers.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
        }
    }

    let url: String
    private let listener: Int32
    private let seen = Mutex<[Request]>([])

    var requests: [Request] { seen.withLock { $0 } }
    /// Every `Authorization` that came, once each.
    var tokens: Set<String> { Set(requests.compactMap { $0.header("Authorization") }) }

    init(_ answer: @escaping @Sendable (Request) -> String) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        unsafe withUnsafeMutablePointer(to: &address) { [listener] address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, length)
                listen(listener, 128)
                unsafe getsockname(listener, address, &length)
            }
        }
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        DispatchQueue(label: "scripted apple").async { [self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                DispatchQueue(label: "scripted connection").async { [self] in serve(connection, answer) }
            }
        }
    }

    deinit { close(listener) }

    /// Refuses further connections; the socket stays open, so that no other test's socket gets its number.
    func stop() { _ = shutdown(listener, Int32(SHUT_RDWR)) }

    private func serve(_ connection: Int32, _ answer: (Request) -> String) {
        defer { close(connection) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = unsafe recv(connection, &buffer, buffer.count, 0), count > 0 {
            bytes += buffer[..<count]
            guard let request = Request(bytes) else { continue }
            bytes = []
            seen.withLock { $0.append(request) }
            let reply = answer(request)
            unsafe send(connection, reply, reply.utf8.count, Int32(MSG_NOSIGNAL))
            if reply.contains("Connection: close") { return }
        }
    }
}

extension ScriptedApple.Request {
    /// Returns `nil` while the request is not whole.
    fileprivate init?(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.firstRange(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].split(separator: "\r\n").map { String($0) }
        line = lines[0].replacing(" HTTP/1.1", with: "")
        headers = Array(lines.dropFirst())
        body = String(text[end.upperBound...])
        let length = header("Content-Length").flatMap { Int($0) } ?? 0
        guard body.utf8.count >= length else { return nil }
    }
}

/// An HTTP answer with its length.
func answer(_ status: Int, _ body: String, _ headers: [String] = []) -> String {
    (["HTTP/1.1 \(status) Status", "Content-Length: \(body.utf8.count)"] + headers + ["", body]).joined(
        separator: "\r\n"
    )
}

let emptyPage = #"{"hasMore":false,"revision":"r"}"#

/// Lends a client of `apple` with a new key.
func withClient<R>(
    of apple: ScriptedApple,
    time: ManualTime = ManualTime(.automatic),
    _ body: (AppStoreClient) async throws -> R
) async throws -> R {
    defer { apple.stop() }
    var configuration = TransportConfiguration()
    configuration.allowsPlainHTTP = true
    // On a busy machine a server answers late.
    configuration.totalTimeout = .seconds(600)
    configuration.lowSpeedTimeout = .seconds(600)
    let transport = try CurlTransport(configuration)
    defer { transport.shutdown() }
    let signer = BearerTokenSigner(
        key: try SigningKey.generate(),
        keyId: "KEY",
        issuerId: "issuer",
        bundleId: "com.example.game"
    )
    return try await body(
        AppStoreClient(transport: transport, baseURL: apple.url, tokens: { [signer] in signer }, time: time.timekeeper)
    )
}

extension AppStoreClient {
    /// One page of customer 1's refund history, as an example of any request.
    func somePage(revision: String? = nil) async throws -> Page {
        try await page(.get("/inApps/v2/refund/lookup/1", [("revision", revision)]), decode: RefundHistory.page)
    }
}
