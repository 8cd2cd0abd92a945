/// The limits of one transport.
///
/// Production uses the defaults.
package struct TransportConfiguration: Equatable, Sendable {
    /// For name lookup, TCP and TLS together.
    package var connectTimeout = Duration.seconds(10)
    /// For the whole exchange.
    ///
    /// The rate limiter relies on this limit.
    package var totalTimeout = Duration.seconds(30)
    /// How long sent data may be unacknowledged, or wait for the server, before the connection is dropped; see
    /// ``SocketOptions``.
    package var unacknowledgedTimeout = Duration.seconds(15)
    /// In bytes per second; an exchange below this speed for ``lowSpeedTimeout`` is ended.
    package var lowSpeedBytesPerSecond = 100
    /// How long an exchange may be below ``lowSpeedBytesPerSecond``; whole seconds, at least one.
    package var lowSpeedTimeout = Duration.seconds(15)
    /// Counted after decompression.
    package var maximumBodyBytes = 4 << 20
    /// In bytes, for all header lines of one exchange including interim responses and trailers.
    package var maximumHeaderBytes = 16 << 10
    /// The number of header lines of one exchange without status lines.
    package var maximumHeaderFields = 100
    /// The most open connections.
    ///
    /// Further requests wait, within `totalTimeout`.
    package var maximumConnections = 64
    /// How long an unused connection is kept for further requests; whole seconds, at least one.
    package var idleConnectionTimeout = Duration.seconds(118)
    /// Allows `http` to a loopback host, for the simulator and tests.
    package var allowsPlainHTTP = false
    /// A PEM bundle of trusted certificate authorities; `nil` means the system's.
    package var caFile: String?
    package var userAgent = "StoreLedger"

    package init() {}
}
