import Dispatch
import Glibc
import Synchronization

/// Something on loopback that answers every start of a PostgreSQL session with one error.
final class RefusingServer: Sendable {
    let port: Int
    private let listener: Int32
    private let count = Mutex(0)

    /// Sessions refused so far.
    var refused: Int { count.withLock { $0 } }

    init(state: String, message: String) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { [listener] address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw NoSocket() }
        port = Int(UInt16(bigEndian: address.sin_port))
        // ErrorResponse: PostgreSQL manual, "Message Formats".
        let fields = Array("SFATAL\0VFATAL\0C\(state)\0M\(message)\0\0".utf8)
        let size = UInt32(fields.count + 4).bigEndian
        let sizeBytes = unsafe withUnsafeBytes(of: size) { unsafe Array($0) }
        let answer = [UInt8(ascii: "E")] + sizeBytes + fields
        DispatchQueue(label: "refusing server").async { [self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                var start = [UInt8](repeating: 0, count: 4_096)
                if unsafe recv(client, &start, start.count, 0) > 0 {
                    unsafe send(client, answer, answer.count, Int32(MSG_NOSIGNAL))
                    count.withLock { $0 += 1 }
                }
                close(client)
            }
        }
    }

    deinit { close(listener) }

    func stop() { _ = shutdown(listener, Int32(SHUT_RDWR)) }

    struct NoSocket: Error {}
}
