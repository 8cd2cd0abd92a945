import Glibc
import Synchronization
import TestSupport

/// A relay on loopback that lets some of what passes through suffer.
///
/// The names of the toxics are Toxiproxy's. Each request that comes draws one, or none.
final class ToxicProxy: Sendable {
    enum Toxic: CaseIterable, Sendable {
        /// A tenth of a second late.
        case latency
        /// The connection is reset instead of an answer.
        case reset
        /// The answer comes a few bytes at a time.
        case slicer
        /// The answer ends after its first hundred bytes.
        case limitData
        /// Nothing comes for a second, and then the end.
        case timeout
        /// The answer is whole, and the connection ends half a second later.
        case slowClose
        /// The answer comes at 64 KB/s.
        case bandwidth
        /// The request passes, the answer does not: the connection has ended.
        case close
    }

    private let listener: LoopbackListener
    private let server: Int
    private let draw: @Sendable (_ request: Int, _ ofConnection: Int) -> Toxic?
    private let state = Mutex((requests: 0, drawn: [Toxic: Int]()))

    var port: Int { listener.port }

    /// How often each toxic was drawn.
    var drawn: [Toxic: Int] { state.withLock(\.drawn) }

    /// Takes everything to the port `server` of loopback.
    ///
    /// `draw` gets the number of the request among all requests, and among the requests of its connection; both from 1.
    init(to server: Int, draw: @escaping @Sendable (_ request: Int, _ ofConnection: Int) -> Toxic?) throws {
        self.server = server
        self.draw = draw
        listener = try LoopbackListener()
        listener.serve { [self] client in relay(client) }
    }

    func stop() { listener.stop() }

    private func relay(_ client: Int32) {
        let backend = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer {
            close(backend)
            close(client)
        }
        var address = LoopbackListener.address(port: server)
        let connected = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(backend, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { return }
        var toxic: Toxic?
        var requests = 0
        var answered = 0
        while true {
            var sockets = [client, backend].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard unsafe poll(&sockets, 2, 60_000) > 0 else { return }
            if sockets[0].revents != 0 {
                guard let bytes = receive(from: client) else { return }
                if bytes.starts(with: Array("GET ".utf8)) || bytes.starts(with: Array("POST ".utf8)) {
                    requests += 1
                    answered = 0
                    toxic = next(requests)
                }
                send(bytes, to: backend)
                switch toxic {
                case .close:
                    // The server has it before the client sees the end.
                    _ = receive(from: backend)
                    return
                case .reset: return reset(client)
                case .timeout:
                    usleep(1_000_000)
                    return
                default: break
                }
            } else {
                guard let bytes = receive(from: backend) else { return }
                guard pass(bytes[...], to: client, toxic, answered) else { return }
                answered += bytes.count
            }
        }
    }

    /// Hands a part of an answer on, as the toxic has it; `false` when the connection ends.
    private func pass(_ bytes: ArraySlice<UInt8>, to client: Int32, _ toxic: Toxic?, _ answered: Int) -> Bool {
        switch toxic {
        case .latency where answered == 0:
            usleep(100_000)
            send(bytes, to: client)
        case .slicer, .bandwidth:
            let size = toxic == .slicer ? max(1, bytes.count / 40) : 6_400
            var rest = bytes
            while !rest.isEmpty {
                send(rest.prefix(size), to: client)
                rest = rest.dropFirst(size)
                usleep(toxic == .slicer ? 500 : 100_000)
            }
        case .limitData:
            send(bytes.prefix(max(0, 100 - answered)), to: client)
            return answered + bytes.count < 100
        case .slowClose:
            send(bytes, to: client)
            usleep(500_000)
            return bytes.count == 65_536
        default: send(bytes, to: client)
        }
        return true
    }

    private func next(_ ofConnection: Int) -> Toxic? {
        state.withLock { state in
            state.requests += 1
            let toxic = draw(state.requests, ofConnection)
            if let toxic { state.drawn[toxic, default: 0] += 1 }
            return toxic
        }
    }

    private func reset(_ client: Int32) {
        var linger = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(client, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    }
}
