/// The limits one transport keeps.
///
/// The defaults are the ones production uses.
package struct TransportConfiguration: Equatable, Sendable {
    /// For name, TCP and TLS together.
    package var connectTimeout = Duration.seconds(10)
    /// For the whole exchange; the rate limiter counts on a request being over by then.
    package var totalTimeout = Duration.seconds(30)
    /// How long sent data may remain unacknowledged, or wait for the server to take it, before the connection is dropped;
    /// see ``SocketDemands``.
    package var unacknowledgedTimeout = Duration.seconds(15)
    /// Bytes a second below which an exchange counts as stuck.
    package var lowSpeedBytesPerSecond = 100
    /// How long it may stay below; whole seconds, at least one.
    package var lowSpeedTimeout = Duration.seconds(15)
    /// Counted after decompression.
    package var maximumBodyBytes = 4 << 20
    /// All header lines of one exchange, interim answers and trailers included.
    package var maximumHeaderBytes = 16 << 10
    /// All header lines of one exchange, status lines left out.
    package var maximumHeaderFields = 100
    /// Connections open at once; further requests wait their turn, inside `totalTimeout`.
    package var maximumConnections = 64
    /// Lets `http` through, to a loopback host and nowhere else: for the simulator and for tests.
    package var allowsPlainHTTP = false
    /// PEM bundle of the certificate authorities to trust; `nil` takes the system's.
    package var caFile: String?
    package var userAgent = "StoreLedger"

    package init() {}
}
