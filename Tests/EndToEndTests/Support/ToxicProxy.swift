import Dispatch
import Glibc
import Synchronization

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

    let port: Int
    private let listener: Int32
    private let server: Int
    private let draw: @Sendable (_ request: Int, _ ofConnection: Int) -> Toxic?
    private let state = Mutex((requests: 0, drawn: [Toxic: Int]()))

    /// How often each toxic was drawn.
    var drawn: [Toxic: Int] { state.withLock(\.drawn) }

    /// Takes everything to the port `server` of loopback.
    ///
    /// `draw` is told the number of the request among all, and among those of its connection; both from 1.
    init(to server: Int, draw: @escaping @Sendable (_ request: Int, _ ofConnection: Int) -> Toxic?) throws {
        self.server = server
        self.draw = draw
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = Self.loopback(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { [listener] address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, length) == 0 && listen(listener, 128) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw NoSocket() }
        port = Int(UInt16(bigEndian: address.sin_port))
        DispatchQueue(label: "toxic proxy").async { [self] in
            while case let client = accept(listener, nil, nil), client >= 0 {
                DispatchQueue(label: "toxic connection").async { [self] in relay(client) }
            }
        }
    }

    deinit { close(listener) }

    func stop() { _ = shutdown(listener, Int32(SHUT_RDWR)) }

    struct NoSocket: Error {}

    private func relay(_ client: Int32) {
        let backend = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer {
            close(backend)
            close(client)
        }
        var address = Self.loopback(port: server)
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
                guard let bytes = receive(client) else { return }
                if bytes.starts(with: Array("GET ".utf8)) || bytes.starts(with: Array("POST ".utf8)) {
                    requests += 1
                    answered = 0
                    toxic = next(requests)
                }
                send(bytes, to: backend)
                switch toxic {
                case .close:
                    // The server has it before the client sees the end.
                    _ = receive(backend)
                    return
                case .reset: return reset(client)
                case .timeout:
                    usleep(1_000_000)
                    return
                default: break
                }
            } else {
                guard let bytes = receive(backend) else { return }
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
            send(Array(bytes), to: client)
        case .slicer, .bandwidth:
            let size = toxic == .slicer ? max(1, bytes.count / 40) : 6_400
            var rest = bytes
            while !rest.isEmpty {
                send(Array(rest.prefix(size)), to: client)
                rest = rest.dropFirst(size)
                usleep(toxic == .slicer ? 500 : 100_000)
            }
        case .limitData:
            send(Array(bytes.prefix(max(0, 100 - answered))), to: client)
            return answered + bytes.count < 100
        case .slowClose:
            send(Array(bytes), to: client)
            usleep(500_000)
            return bytes.count == 65_536
        default: send(Array(bytes), to: client)
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

    private func receive(_ socket: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe bytes.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    private func send(_ bytes: [UInt8], to socket: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes {
                unsafe Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = in_port_t(port).bigEndian
        return address
    }
}
