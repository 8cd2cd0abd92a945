import Dispatch
import FoundationEssentials
import Glibc
import HTTPTransport
import Synchronization
import Testing

/// No byte of a request leaves this machine long after it was given up.
struct SocketTests {
    /// This process's connected sockets to a port on loopback.
    private static func sockets(to port: Int) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }.filter { socket in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isConnected = unsafe withUnsafeMutablePointer(to: &address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe getpeername(socket, $0, &length) == 0
                }
            }
            return isConnected && address.sin_family == AF_INET && UInt16(bigEndian: address.sin_port) == port
        }
    }

    @Test func `the kernel drops a connection whose data stays unacknowledged, also a kept connection`() async throws {
        let server = try LoopbackServer { _ in answer() }
        defer { server.stop() }
        for (given, expected) in [(nil, 15_000), (Duration.milliseconds(125), 125)] as [(Duration?, UInt32)] {
            try await withTransport {
                if let given { $0.unacknowledgedTimeout = given }
            } _: { transport in
                _ = try await transport.send(HTTPRequest(.get, server.url + "/"))
                let sockets = try Self.sockets(to: server.port)
                #expect(sockets.count == 1)
                for socket in sockets {
                    var milliseconds: UInt32 = 0
                    var size = socklen_t(MemoryLayout<UInt32>.size)
                    let code = unsafe getsockopt(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, &size)
                    #expect(code == 0 && milliseconds == expected)
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func `nothing of a request that was given up arrives later, though the kernel had all of it`(shutsDown: Bool)
        async throws
    {
        let accepted = Mutex<Connection?>(nil)
        let received = Mutex("")
        let isGivenUp = DispatchSemaphore(value: 0)
        let isRead = DispatchSemaphore(value: 0)
        let server = try LoopbackServer(hasSmallWindow: true) { connection in
            accepted.withLock { $0 = connection }
            isGivenUp.wait()
            let text = connection.readToEnd()
            received.withLock { $0 = text }
            isRead.signal()
        }
        defer { server.stop() }
        let body = [UInt8](repeating: UInt8(ascii: "x"), count: 8_000) + Array("the end".utf8)
        let url = server.url + "/"
        try await withTransport { transport in
            let sending = Task { try await transport.send(HTTPRequest(.post, url, body: body)) }
            // Until libcurl has handed all of it over, of which the window has room for a part.
            var arrived = 0
            var waiting: Int32 = 0
            while arrived + Int(waiting) <= body.count {
                await Task.yield()
                guard let connection = accepted.withLock(\.self), let own = try Self.sockets(to: server.port).first
                else { continue }
                _ = unsafe ioctl(own, UInt(TIOCOUTQ), &waiting)
                arrived = connection.unread
            }
            #expect(arrived < body.count)
            if shutsDown {
                transport.shutdown()
                await #expect(throws: TransportFault.self) { try await sending.value }
            } else {
                sending.cancel()
                await #expect(throws: CancellationError.self) { try await sending.value }
            }
            // The transport's thread closes the socket; on a busy machine that can be later than the error.
            while try !Self.sockets(to: server.port).isEmpty { await Task.yield() }
            // Now the server reads everything.
            isGivenUp.signal()
            await withCheckedContinuation { done in
                DispatchQueue(label: "server").async {
                    isRead.wait()
                    done.resume()
                }
            }
            let text = received.withLock(\.self)
            #expect(text.utf8.count < body.count && !text.contains("the end"))
        }
    }
}
