import AppStoreModel
import Synchronization

/// The documented limit of every endpoint, or none.
final class RateLimits: Sendable {
    private let windows: Mutex<[AppStoreModel.Stream: SlidingWindow]>

    /// - `windowSeconds`: How long the window is; the requests allowed in it are the per-second limit times this.
    init(_ limit: SimulatorConfiguration.RateLimit, environment: AppStoreEnvironment, windowSeconds: Int) {
        let windows = AppStoreModel.Stream.allCases.map { endpoint in
            let requests = endpoint.requestsPerSecond(in: environment) * Double(windowSeconds)
            return (endpoint, SlidingWindow(limit: max(1, Int(requests)), length: .seconds(windowSeconds)))
        }
        self.windows = Mutex(limit == .none ? [:] : Dictionary(uniqueKeysWithValues: windows))
    }

    /// `nil` when the request is within the limit, else the moment to try again.
    func admit(_ endpoint: AppStoreModel.Stream, at now: UnixMilliseconds) -> UnixMilliseconds? {
        windows.withLock { $0[endpoint]?.admit(at: now) }
    }
}
