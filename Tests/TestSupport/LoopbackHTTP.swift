import Dispatch
import Glibc

/// A minimal HTTP client for the simulator and the servers of tests on 127.0.0.1.
package struct LoopbackHTTP: Sendable {
    package let port: Int

    package init(port: Int) {
        self.port = port
    }

    package struct Answer: Sendable {
        package let status: Int
        /// By name in lower case.
        package let headers: [String: String]
        package let body: [UInt8]
    }

    package func get(_ path: String) async throws -> Answer { try await send("GET", path, "") }

    /// Sends a request with a method such as `POST` and a body.
    ///
    /// - Parameters:
    ///   - method: In capitals.
    ///   - path: With the query, percent-encoded.
    ///   - body: The text to send; may be empty.
    ///   - headers: Names and values in addition to the headers of every request.
    /// - Returns: The whole answer.
    /// - Throws: ``Failure``, also when the server ends the answer early.
    package func send(
        _ method: String,
        _ path: String,
        _ body: String,
        headers: [(name: String, value: String)] = []
    ) async throws -> Answer {
        let always = [
            ("Host", "127.0.0.1:\(port)"), ("Connection", "close"), ("Content-Length", String(body.utf8.count)),
        ]
        let lines = (always + headers).map { "\($0.0): \($0.1)\r\n" }.joined()
        return try await exchange(Array("\(method) \(path) HTTP/1.1\r\n\(lines)\r\n\(body)".utf8))
    }

    /// Sends the bytes of any request, and reads the answer to its end.
    package func send(bytes: [UInt8]) async throws -> Answer { try await exchange(bytes) }

    /// Sends bytes and reads to the end, without blocking a thread of the task pool.
    private func exchange(_ request: [UInt8]) async throws -> Answer {
        try await withCheckedThrowingContinuation { done in
            DispatchQueue(label: "loopback \(port)").async {
                done.resume(with: Result { try Answer(parsing: try Self.exchange(request, port)) })
            }
        }
    }

    private static func exchange(_ request: [UInt8], _ port: Int) throws -> [UInt8] {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard socket >= 0 else { throw Failure(action: "opening a socket", code: errno) }
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let connected = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure(action: "connecting to port \(port)", code: errno) }
        var rest = request[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            // A server that answers early may read no further. Its answer can still be read.
            guard sent > 0 else { break }
            rest = rest.dropFirst(sent)
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
            guard count >= 0 else { throw Failure(action: "receiving", code: errno) }
            if count == 0 { return answer }
            answer += buffer[..<count]
        }
    }

    package struct Failure: Error {
        let action: String
        let code: Int32
    }
}

extension LoopbackHTTP.Answer {
    fileprivate init(parsing bytes: [UInt8]) throws {
        guard let head = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw LoopbackHTTP.Failure(action: "reading the head of an answer", code: 0)
        }
        let lines = String(decoding: bytes[..<head.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ", maxSplits: 2) ?? []
        guard words.count > 1, let status = Int(words[1].prefix(3)) else {
            throw LoopbackHTTP.Failure(action: "reading the status of an answer", code: 0)
        }
        self.status = status
        let fields = lines.dropFirst().map { line in
            let name = line.prefix { $0 != ":" }
            return (name.lowercased(), String(line.dropFirst(name.count + 1).drop { $0 == " " }))
        }
        headers = Dictionary(fields) { first, _ in first }
        body = Array(bytes[head.upperBound...])
        if let length = headers["content-length"].flatMap({ Int($0) }), body.count < length {
            throw LoopbackHTTP.Failure(action: "reading a body to its end", code: 0)
        }
    }
}
