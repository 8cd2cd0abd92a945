import Dispatch
package import Glibc

/// A listening port on loopback, closed with its owner.
package final class LoopbackListener: Sendable {
    package let port: Int
    package let descriptor: Int32

    /// Listens on a free port.
    package init(isBlocking: Bool = true) throws {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_INET, isBlocking ? kind : kind | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = Self.address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { [descriptor] address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) == 0 && listen(descriptor, 512) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        guard isListening else { throw NoSocket() }
    }

    deinit { close(descriptor) }

    /// Calls `body` with each connection on a separate thread and closes the connection afterwards, until ``stop()``.
    package func serve(_ body: @escaping @Sendable (_ client: Int32) -> Void) {
        DispatchQueue(label: "listener").async { [self] in
            while case let client = accept(descriptor, nil, nil), client >= 0 {
                // A child process of another test that inherited the connection would keep it open.
                _ = fcntl(client, F_SETFD, FD_CLOEXEC)
                DispatchQueue(label: "connection").async { body(client) }
            }
        }
    }

    /// Sends a signal to a program when it connects, and never answers it.
    ///
    /// A separate thread sends it, because on a busy machine the program can give up before its test continues.
    package func signal(_ process: ChildProcess, _ signal: Int32) {
        DispatchQueue(label: "listener").async { [self, id = process.processID] in
            let client = accept(descriptor, nil, nil)
            if client >= 0 { _ = fcntl(client, F_SETFD, FD_CLOEXEC) }
            kill(id, signal)
        }
    }

    /// Stops accepting connections.
    package func stop() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

    package struct NoSocket: Error {}

    /// The address of a port on loopback.
    package static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = in_port_t(port).bigEndian
        return address
    }
}

/// The bytes that a socket has now, at most 64 KiB; `nil` at its end.
package func receive(from socket: Int32) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
    return count > 0 ? Array(bytes.prefix(count)) : nil
}

/// Sends all bytes, until the other side closes the connection.
package func send(_ bytes: some Collection<UInt8>, to socket: Int32) {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
        let sent = unsafe rest.withUnsafeBytes {
            unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard sent > 0 else { return }
        rest = rest.dropFirst(sent)
    }
}
