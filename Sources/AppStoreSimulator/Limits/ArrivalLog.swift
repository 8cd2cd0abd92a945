import AppStoreModel
import Synchronization

/// Every request that reached one of the three endpoints: the judge of every client's limiter.
final class ArrivalLog: Sendable {
    struct Arrival: Sendable {
        let at: UnixMilliseconds
        let endpoint: AppStoreModel.Stream
        /// 0 when the connection was dropped without an answer.
        let status: Int
        let transactionId: String?
        /// Of the bearer token: who has several processes ask can tell them apart.
        let token: String?
    }

    private struct State {
        var arrivals: [Arrival] = []
        var counts: [AppStoreModel.Stream: [Int: Int]] = [:]
    }

    private let state = Mutex(State())
    /// The oldest are forgotten beyond this; the counts go on.
    private static let most = 1_000_000

    func note(_ arrival: Arrival) {
        state.withLock { state in
            if state.arrivals.count == Self.most { state.arrivals.removeFirst(Self.most / 2) }
            state.arrivals.append(arrival)
            state.counts[arrival.endpoint, default: [:]][arrival.status, default: 0] += 1
        }
    }

    /// The JSON that `GET /simulator/requests` answers.
    var json: [UInt8] {
        let (arrivals, counts) = state.withLock { ($0.arrivals, $0.counts) }
        return jsonObject {
            $0.member("total", Int64(counts.values.flatMap(\.values).reduce(0, +)))
            $0.member("refused", Int64(counts.values.compactMap { $0[429] }.reduce(0, +)))
            $0.member("counts", objects: Self.json(counts))
            $0.member("arrivals", objects: arrivals.map(\.json))
        }
    }

    private static func json(_ counts: [AppStoreModel.Stream: [Int: Int]]) -> [[UInt8]] {
        AppStoreModel.Stream.allCases.flatMap { endpoint in
            (counts[endpoint] ?? [:]).sorted { $0.key < $1.key }.map { status, count in
                jsonObject {
                    $0.member("endpoint", endpoint.rawValue)
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
            $0.member("endpoint", endpoint.rawValue)
            $0.member("status", Int64(status))
            $0.member("transactionId", transactionId)
            $0.member("token", token)
        }
    }
}
