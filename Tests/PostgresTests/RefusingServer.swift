import Glibc
import Synchronization
import TestSupport

/// Something on loopback that answers every start of a PostgreSQL session with one error.
final class RefusingServer: Sendable {
    private let listener: LoopbackListener
    private let count = Mutex(0)

    var port: Int { listener.port }

    /// Sessions refused so far.
    var refused: Int { count.withLock { $0 } }

    init(state: String, message: String) throws {
        listener = try LoopbackListener()
        // ErrorResponse: PostgreSQL manual, "Message Formats".
        let fields = Array("SFATAL\0VFATAL\0C\(state)\0M\(message)\0\0".utf8)
        let size = UInt32(fields.count + 4).bigEndian
        let sizeBytes = unsafe withUnsafeBytes(of: size) { unsafe Array($0) }
        let answer = [UInt8(ascii: "E")] + sizeBytes + fields
        listener.serve { [self] client in
            defer { close(client) }
            guard receive(from: client) != nil else { return }
            // Counted first: whoever has read the answer may look.
            count.withLock { $0 += 1 }
            send(answer, to: client)
        }
    }

    func stop() { listener.stop() }
}
