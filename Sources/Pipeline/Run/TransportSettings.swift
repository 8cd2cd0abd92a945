import AppStoreModel
import HTTPTransport
import JobFiles

extension RequestingJob {
    /// The libcurl settings for this job.
    ///
    /// Plain HTTP is allowed only over loopback.
    func transportConfiguration(connections: Int) -> TransportConfiguration {
        var configuration = TransportConfiguration()
        // When a request is sent, at least half of the flight time that the limiter assumes is left.
        configuration.unacknowledgedTimeout = RateWindow(length: .seconds(limits.windowSeconds)).flightTime / 2
        configuration.allowsPlainHTTP = appStore.isLoopback
        configuration.maximumConnections = max(1, connections)
        return configuration
    }
}
