import AppStoreModel
import Synchronization

/// The documented limit of every endpoint, or no limits.
final class RateLimits: Sendable {
    private let windows: Mutex<[EndpointName: SlidingWindow]>

    /// - `windowSeconds`: The length of the window. The requests allowed in it are the limit per second times this.
    init(
        _ limit: SimulatorConfiguration.RateLimit,
        routes: [Route],
        environment: AppStoreEnvironment,
        windowSeconds: Int
    ) {
        let windows = routes.map { route in
            let requests = route.requestsPerSecond(in: environment) * Double(windowSeconds)
            return (route.name, SlidingWindow(limit: max(1, Int(requests)), length: .seconds(windowSeconds)))
        }
        self.windows = Mutex(limit == .none ? [:] : Dictionary(uniqueKeysWithValues: windows))
    }

    /// Counts a request that is within the limit and returns `nil`, or returns the moment to try again.
    func reserve(_ endpoint: EndpointName, at now: UnixMilliseconds) -> UnixMilliseconds? {
        windows.withLock { $0[endpoint]?.reserve(at: now) }
    }
}

extension Route {
    fileprivate func requestsPerSecond(in environment: AppStoreEnvironment) -> Double {
        environment == .production ? requestsPerSecond : requestsPerSecond / 10
    }
}
