import Glibc
import Synchronization

/// An HTTP server on loopback that keeps the requests it receives.
package final class WebhookServer: Sendable {
    package struct Request: Sendable {
        /// Method, path and headers.
        package let head: String
        package let body: String
    }

    package struct Answer: Sendable {
        package var status: Int
        package var headers: [String] = []
        package var body = ""

        package init(_ status: Int, _ headers: [String] = [], body: String = "") {
            self.status = status
            self.headers = headers
            self.body = body
        }
    }

    private let listener: LoopbackListener
    private let received = Mutex<[Request]>([])

    package var port: Int { listener.port }
    package var requests: [Request] { received.withLock { $0 } }

    /// Answers every request with `status`; stop it with ``stop()``.
    package convenience init(status: Int = 204) throws {
        try self.init { _ in status }
    }

    /// Answers each request with the status that `answer` returns; stop it with ``stop()``.
    package convenience init(answering answer: @escaping @Sendable (Request) -> Int) throws {
        try self.init { request, _ in Answer(answer(request)) }
    }

    /// Answers each request with what `answer` returns for it and its number, counted from 1; stop it with ``stop()``.
    package init(replying answer: @escaping @Sendable (Request, Int) -> Answer) throws {
        listener = try LoopbackListener()
        listener.serve { [self] client in
            guard let request = Self.read(from: client) else { return }
            let number = received.withLock { received in
                received.append(request)
                return received.count
            }
            let reply = answer(request, number)
            let headers = (reply.headers + ["Content-Length: \(reply.body.utf8.count)", "Connection: close"]).joined(
                separator: "\r\n"
            )
            send("HTTP/1.1 \(reply.status) Answer\r\n\(headers)\r\n\r\n\(reply.body)".utf8, to: client)
        }
    }

    package func stop() { listener.stop() }

    private static func read(from client: Int32) -> Request? {
        var bytes: [UInt8] = []
        while let more = receive(from: client) {
            bytes += more
            guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { continue }
            let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
            let length = head.lowercased().firstMatch(of: /content-length: *([0-9]+)/).flatMap { Int($0.1) } ?? 0
            if bytes.count - end.upperBound >= length {
                return Request(head: head, body: String(decoding: bytes[end.upperBound...], as: UTF8.self))
            }
        }
        return nil
    }
}
