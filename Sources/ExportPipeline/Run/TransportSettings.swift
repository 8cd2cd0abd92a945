import HTTPTransport
import JobPlan

extension JobFile {
    /// How libcurl is to behave for this job; plain HTTP only over loopback.
    func transportConfiguration(width: Int) -> TransportConfiguration {
        var configuration = TransportConfiguration()
        configuration.allowsPlainHTTP = appStore.isLoopback
        configuration.maximumConnections = max(1, width)
        return configuration
    }
}
