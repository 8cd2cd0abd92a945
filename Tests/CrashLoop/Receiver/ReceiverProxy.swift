import Glibc
import Synchronization
import TestSupport

/// A reverse proxy in front of the receivers: each connection goes to the next one that accepts it.
final class ReceiverProxy: Sendable {
    private struct State {
        /// The ports of the receivers.
        var backends: [Int] = []
        var next = 0
        /// The sockets of clients whose connections are open.
        var clients: Set<Int32> = []
    }

    private let listener: LoopbackListener
    private let state = Mutex(State())

    var port: Int { listener.port }

    init() throws {
        listener = try LoopbackListener()
        listener.serve { [self] client in relay(client) }
    }

    func setBackends(_ ports: [Int]) {
        state.withLock { $0.backends = ports }
    }

    /// Cuts every open connection.
    ///
    /// - Returns: Their number.
    func cut() -> Int {
        state.withLock { state in
            for client in state.clients { _ = shutdown(client, Int32(SHUT_RDWR)) }
            return state.clients.count
        }
    }

    func stop() { listener.stop() }

    private func relay(_ client: Int32) {
        defer { close(client) }
        guard let backend = connectToNext() else { return }
        defer { close(backend) }
        state.withLock { _ = $0.clients.insert(client) }
        // The number is free for another connection once this one is closed.
        defer { state.withLock { _ = $0.clients.remove(client) } }
        while true {
            var sockets = [client, backend].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard unsafe poll(&sockets, 2, 60_000) > 0 else { return }
            let (from, to) = sockets[0].revents != 0 ? (client, backend) : (backend, client)
            guard let bytes = receive(from: from) else { return }
            send(bytes, to: to)
        }
    }

    /// Connects to the first receiver in turn that accepts the connection; `nil` if none does.
    private func connectToNext() -> Int32? {
        let backends = state.withLock { state in
            state.next += 1
            let first = state.backends.isEmpty ? 0 : state.next % state.backends.count
            return state.backends[first...] + state.backends[..<first]
        }
        for port in backends {
            let backend = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            var address = LoopbackListener.address(port: port)
            let status = unsafe withUnsafePointer(to: &address) { address in
                unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe connect(backend, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            if status == 0 { return backend }
            close(backend)
        }
        return nil
    }
}
