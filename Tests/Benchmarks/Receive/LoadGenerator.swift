import Dispatch
import Glibc
import Synchronization
import TestSupport

/// Posts requests over connections that stay open, one thread for each.
struct LoadGenerator: Sendable {
    let port: Int

    /// What a load came to.
    struct Outcome: Sendable {
        /// Milliseconds from when each request was due until its answer.
        var latencies: [Double] = []
        /// Answers other than 200.
        var failures = 0
        var seconds = 0.0
    }

    /// Posts requests.
    ///
    /// - Parameters:
    ///   - requests: In this order; each once.
    ///   - connections: How many connections.
    ///   - rate: How many a second; `nil` for as many as possible. A request that waits for a connection waits from when it
    ///     was due, so a slow answer shows in the latencies of those behind it.
    /// - Returns: The outcome.
    func post(_ requests: ArraySlice<[UInt8]>, connections: Int, rate: Double? = nil) async -> Outcome {
        let shared = Shared(next: requests.startIndex)
        let began = ContinuousClock.now
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<connections {
                group.addTask {
                    await withCheckedContinuation { done in
                        DispatchQueue(label: "load").async {
                            let own = run(requests, shared, since: began, rate: rate)
                            shared.total.withLock { total in
                                total.latencies += own.latencies
                                total.failures += own.failures
                            }
                            done.resume()
                        }
                    }
                }
            }
        }
        var outcome = shared.total.withLock { $0 }
        outcome.seconds = Self.milliseconds(since: began) / 1_000
        return outcome
    }

    /// What the threads of a load share.
    private final class Shared: Sendable {
        /// The index of the next request.
        let next: Atomic<Int>
        let total = Mutex(Outcome())

        init(next: Int) { self.next = Atomic(next) }
    }

    private func run(
        _ requests: ArraySlice<[UInt8]>,
        _ shared: Shared,
        since began: ContinuousClock.Instant,
        rate: Double?
    ) -> Outcome {
        var outcome = Outcome()
        guard let socket = Self.connect(port) else {
            outcome.failures = 1
            return outcome
        }
        defer { close(socket) }
        while true {
            let number = shared.next.add(1, ordering: .relaxed).oldValue
            guard number < requests.endIndex else { return outcome }
            var due = ContinuousClock.now
            if let rate {
                due = began + .seconds(Double(number - requests.startIndex) / rate)
                let wait = due - .now
                if wait > .zero { usleep(UInt32(wait.components.attoseconds / 1_000_000_000_000) + UInt32(wait.components.seconds) * 1_000_000) }
            }
            send(requests[number], to: socket)
            guard let answer = receive(from: socket) else {
                outcome.failures += 1
                return outcome
            }
            if !answer.starts(with: "HTTP/1.1 200".utf8) { outcome.failures += 1 }
            outcome.latencies.append(Self.milliseconds(since: due))
        }
    }

    /// Opens connections that send one request each and then stay open.
    ///
    /// - Returns: The sockets; fewer than `count` if the system allows no more.
    func openIdle(_ count: Int) -> [Int32] {
        let request = Array("GET /health HTTP/1.1\r\nHost: bench\r\n\r\n".utf8)
        var sockets: [Int32] = []
        while sockets.count < count, let socket = Self.connect(port) {
            send(request, to: socket)
            guard receive(from: socket) != nil else { return sockets }
            sockets.append(socket)
        }
        return sockets
    }

    private static func connect(_ port: Int) -> Int32? {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        var address = LoopbackListener.address(port: port)
        let isConnected = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(descriptor)
            return nil
        }
        return descriptor
    }

    private static func milliseconds(since start: ContinuousClock.Instant) -> Double {
        let time = ContinuousClock.now - start
        return Double(time.components.seconds) * 1e3 + Double(time.components.attoseconds) / 1e15
    }
}
