import Glibc
import Postgres
import Synchronization
import TestSupport

/// Relays between a client and the test's server, and once withholds the answer to a COMMIT: it hangs up instead.
final class CommitCuttingRelay: Sendable {
    /// How to connect through the relay.
    let conninfo: String
    private let listener: LoopbackListener
    private let server: String
    private let cut = Mutex(0)

    /// How many answers were withheld.
    var cuts: Int { cut.withLock { $0 } }

    /// Begins to listen on a free port of the loopback interface.
    ///
    /// - Parameter conninfo: Of a server on this machine that listens on a Unix socket.
    /// - Throws: What asking that server where it listens throws.
    init(to conninfo: String) throws {
        let connection = try PostgresConnection(conninfo: conninfo)
        let place = try connection.run(
            "SELECT split_part(current_setting('unix_socket_directories'), ',', 1) || '/.s.PGSQL.' || current_setting('port') AS path"
        )
        server = try place[0].text("path")
        listener = try LoopbackListener()
        // The last mention of a keyword counts.
        let isURL = conninfo.contains("://")
        let joint = isURL ? (conninfo.contains("?") ? "&" : "?") : " "
        self.conninfo = "\(conninfo)\(joint)host=127.0.0.1\(isURL ? "&" : " ")port=\(listener.port)"
        listener.serve { [self] client in relay(client) }
    }

    /// Takes no further connections.
    func stop() { listener.stop() }

    private func relay(_ client: Int32) {
        defer { close(client) }
        let backend = connectToServer()
        guard backend >= 0 else { return }
        defer { close(backend) }
        var isCutting = false
        while true {
            var sockets = [client, backend].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard unsafe poll(&sockets, 2, 30_000) > 0 else { return }
            if sockets[1].revents != 0 {
                guard let answer = receive(from: backend), !isCutting else { return }
                send(answer, to: client)
            } else {
                guard let question = receive(from: client) else { return }
                if String(decoding: question, as: UTF8.self).contains("COMMIT\0") { isCutting = mayCut() }
                send(question, to: backend)
            }
        }
    }

    /// Whether the answer to this COMMIT is withheld.
    private func mayCut() -> Bool {
        cut.withLock { cuts in
            guard cuts == 0 else { return false }
            cuts = 1
            return true
        }
    }

    private func connectToServer() -> Int32 {
        let backend = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { path in
            for (place, byte) in server.utf8.prefix(path.count - 1).enumerated() { unsafe path[place] = byte }
        }
        let status = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(backend, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return status == 0 ? backend : -1
    }
}
