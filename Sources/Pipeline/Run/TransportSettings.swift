import AppStoreModel
import HTTPTransport
import JobPlan

extension JobFile {
    /// How libcurl is to behave for this job; plain HTTP only over loopback.
    func transportConfiguration(width: Int) -> TransportConfiguration {
        var configuration = TransportConfiguration()
        // A request departs at the latest when half of the flight is left that the limiter counts on.
        configuration.unacknowledgedTimeout = RateWindow(length: .seconds(limits.windowSeconds)).flightTime / 2
        configuration.allowsPlainHTTP = appStore.isLoopback
        configuration.maximumConnections = max(1, width)
        return configuration
    }
}
