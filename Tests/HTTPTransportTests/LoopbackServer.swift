import Dispatch
import Glibc
import Synchronization

/// A TCP server on loopback that sends exactly the bytes of a test.
///
/// Each connection runs `script` on a separate thread; `events` reports what happens, in order.
final class LoopbackServer: Sendable {
    enum Event: Equatable, Sendable {
        case accepted
        case request(String)
        /// The client hung up.
        case closed
    }

    let port: Int
    let events: AsyncStream<Event>
    private let log = Mutex<[Event]>([])
    private let listener: Int32
    private let told: AsyncStream<Event>.Continuation

    var url: String { "http://127.0.0.1:\(port)" }
    var accepted: Int { log.withLock { $0.count { $0 == .accepted } } }
    var requests: [String] {
        log.withLock { $0.compactMap { if case .request(let text) = $0 { text } else { nil } } }
    }

    /// Starts listening; `script` is what one connection does, and the connection is closed when it returns.
    ///
    /// - Parameters:
    ///   - hasSmallWindow: Whether its connections accept only about two kilobytes, unread; the rest waits in the
    ///     client's kernel.
    ///   - script: What one connection does.
    /// - Throws: ``NoSocket``.
    init(hasSmallWindow: Bool = false, _ script: @escaping @Sendable (Connection) -> Void) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        if hasSmallWindow {
            var bytes: Int32 = 1
            unsafe setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &bytes, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port: UInt16? = unsafe withUnsafeMutablePointer(to: &address) { [listener] address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard unsafe bind(listener, generic, length) == 0, listen(listener, 512) == 0 else { return false }
                return unsafe getsockname(listener, generic, &length) == 0
            } ? UInt16(bigEndian: address.pointee.sin_port) : nil
        }
        guard let port else { throw NoSocket() }
        self.port = Int(port)
        (events, told) = AsyncStream.makeStream()
        DispatchQueue(label: "loopback server").async { [self] in accept(script) }
    }

    /// Answers every request of every connection with `answer`, for as long as the client stays.
    convenience init(answering answer: @escaping @Sendable (String) -> String) throws {
        try self.init { connection in
            while let request = connection.readRequest() { connection.write(answer(request)) }
        }
    }

    deinit { close(listener) }

    /// Refuses further connections; the socket stays open, so that no other test's socket gets its number.
    func stop() {
        _ = Glibc.shutdown(listener, Int32(SHUT_RDWR))
    }

    fileprivate func tell(_ event: Event) {
        log.withLock { $0.append(event) }
        told.yield(event)
    }

    private func accept(_ script: @escaping @Sendable (Connection) -> Void) {
        while true {
            let socket = Glibc.accept(listener, nil, nil)
            guard socket >= 0 else { break }
            // A child process of another test that inherited the connection would keep it open.
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
            tell(.accepted)
            DispatchQueue(label: "loopback connection").async { [self] in
                let connection = Connection(socket: socket, server: self)
                script(connection)
                close(socket)
            }
        }
        told.finish()
    }

    struct NoSocket: Error {}
}

/// The server's side of one connection.
struct Connection: Sendable {
    fileprivate let socket: Int32
    let server: LoopbackServer

    /// Reads one request and its body, and reports an event; `nil` when the client hung up instead.
    func readRequest() -> String? {
        var bytes: [UInt8] = []
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.firstRange(of: "\r\n\r\n")?.upperBound, text[end...].utf8.count >= bodyLength(text) {
                server.tell(.request(text))
                return text
            }
            guard let more = read() else {
                server.tell(.closed)
                return nil
            }
            bytes += more
        }
    }

    func write(_ text: String) { write(Array(text.utf8)) }

    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes {
                unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Makes the close that follows a reset (RST) instead of a polite end.
    func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }

    /// Waits for the client to close the connection, at most the given number of milliseconds.
    func isClosed(within milliseconds: Int32) -> Bool {
        var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&waiting, 1, milliseconds) > 0 && read() == nil
    }

    /// Waits until the client sends something or hangs up, and reads nothing.
    func waitForBytes() {
        var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        _ = unsafe poll(&waiting, 1, -1)
    }

    /// How many bytes have come that were not read.
    var unread: Int {
        var bytes: Int32 = 0
        return unsafe ioctl(socket, UInt(FIONREAD), &bytes) == 0 ? Int(bytes) : 0
    }

    /// Reads until the client hangs up or resets the connection.
    func readToEnd() -> String {
        var bytes: [UInt8] = []
        while let more = read() { bytes += more }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Waits until the client hangs up.
    func waitForClose() {
        while read() != nil {}
        server.tell(.closed)
    }

    private func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe buffer.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    private func bodyLength(_ request: String) -> Int {
        for line in request.split(separator: "\r\n") where line.lowercased().hasPrefix("content-length:") {
            return Int(line.drop { $0 != ":" }.dropFirst().filter { $0 != " " }) ?? 0
        }
        return 0
    }
}

/// An answer with a length, so that the connection can be kept.
func answer(_ status: String = "200 OK", headers: [String] = [], _ body: String = "{}") -> String {
    (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers + ["", body]).joined(separator: "\r\n")
}
