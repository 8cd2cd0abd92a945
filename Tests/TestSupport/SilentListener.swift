import Glibc

/// A port on loopback that answers nobody and counts who came.
package final class SilentListener: Sendable {
    package let port: Int
    private let descriptor: Int32

    package init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port: UInt16? = unsafe withUnsafeMutablePointer(to: &address) { [descriptor] address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                guard unsafe bind(descriptor, generic, length) == 0, listen(descriptor, 512) == 0 else { return false }
                return unsafe getsockname(descriptor, generic, &length) == 0
            } ? UInt16(bigEndian: address.pointee.sin_port) : nil
        }
        guard let port else { throw NoSocket() }
        self.port = Int(port)
    }

    deinit { close(descriptor) }

    /// Connections since the last count; one that was made and closed again is counted too.
    package func visits() -> Int {
        var count = 0
        while case let connection = accept(descriptor, nil, nil), connection >= 0 {
            close(connection)
            count += 1
        }
        return count
    }

    struct NoSocket: Error {}
}
