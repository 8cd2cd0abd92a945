import Glibc
import Postgres
import Synchronization
import TestSupport

/// Something on loopback that answers every start of a PostgreSQL session with an error.
final class RefusingServer: Sendable {
    private let listener: LoopbackListener
    private let count = Mutex(0)

    var port: Int { listener.port }

    /// Sessions refused so far.
    var refused: Int { count.withLock { $0 } }

    /// A pool of one session that would connect to it.
    var pool: PostgresPool {
        let address = "host=127.0.0.1 port=\(port) user=u dbname=d sslmode=disable gssencmode=disable"
        return PostgresPool(conninfo: ConnectionString(address), size: 1)
    }

    /// Answers with one SQLSTATE after another, the last one for good.
    init(states: [String], message: String) throws {
        listener = try LoopbackListener()
        listener.serve { [self] client in
            defer { close(client) }
            guard receive(from: client) != nil else { return }
            // Counted before the answer is sent, because a client that has read the answer can check the count.
            let turn = count.withLock { turn in
                defer { turn += 1 }
                return turn
            }
            send(Self.refusal(states[min(turn, states.count - 1)], message), to: client)
        }
    }

    /// ErrorResponse: PostgreSQL manual, "Message Formats".
    private static func refusal(_ state: String, _ message: String) -> [UInt8] {
        let fields = Array("SFATAL\0VFATAL\0C\(state)\0M\(message)\0\0".utf8)
        let size = UInt32(fields.count + 4).bigEndian
        let sizeBytes = unsafe withUnsafeBytes(of: size) { unsafe Array($0) }
        return [UInt8(ascii: "E")] + sizeBytes + fields
    }

    func stop() { listener.stop() }
}
