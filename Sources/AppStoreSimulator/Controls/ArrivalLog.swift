import AppStoreModel
import Synchronization

/// Every request that reached an endpoint of Apple's API.
///
/// Tests use it to check a client's rate limiter.
final class ArrivalLog: Sendable {
    struct Arrival: Sendable {
        let at: UnixMilliseconds
        let endpoint: EndpointName
        /// 0 when the connection was dropped without an answer.
        let status: Int
        let transactionId: String?
        let orderId: String?
        /// A short name for the bearer token; each client process has its own.
        let token: String?
    }

    private struct State {
        var arrivals: [Arrival] = []
        var counts: [EndpointName: [Int: Int]] = [:]
    }

    private let endpoints: [EndpointName]
    private let state = Mutex(State())
    /// With more arrivals the older half is removed; the counts keep them.
    private static let maximumCount = 1_000_000

    /// - `endpoints`: In the order of the counts.
    init(endpoints: [EndpointName]) {
        self.endpoints = endpoints
    }

    func record(_ arrival: Arrival) {
        state.withLock { state in
            if state.arrivals.count == Self.maximumCount { state.arrivals.removeFirst(Self.maximumCount / 2) }
            state.arrivals.append(arrival)
            state.counts[arrival.endpoint, default: [:]][arrival.status, default: 0] += 1
        }
    }

    /// The answer to `GET /simulator/requests`.
    var json: [UInt8] {
        let (arrivals, counts) = state.withLock { ($0.arrivals, $0.counts) }
        return jsonObject {
            $0.member("total", Int64(counts.values.flatMap(\.values).reduce(0, +)))
            $0.member("refused", Int64(counts.values.compactMap { $0[429] }.reduce(0, +)))
            $0.member("counts", objects: json(counts))
            $0.member("arrivals", objects: arrivals.map(\.json))
        }
    }

    private func json(_ counts: [EndpointName: [Int: Int]]) -> [[UInt8]] {
        endpoints.flatMap { endpoint in
            (counts[endpoint] ?? [:]).sorted { $0.key < $1.key }.map { status, count in
                jsonObject {
                    $0.member("endpoint", endpoint.text)
                    $0.member("status", Int64(status))
                    $0.member("count", Int64(count))
                }
            }
        }
    }
}

extension ArrivalLog.Arrival {
    fileprivate var json: [UInt8] {
        jsonObject {
            $0.member("at", at.rawValue)
            $0.member("endpoint", endpoint.text)
            $0.member("status", Int64(status))
            $0.member("transactionId", transactionId)
            $0.member("orderId", orderId)
            $0.member("token", token)
        }
    }
}
