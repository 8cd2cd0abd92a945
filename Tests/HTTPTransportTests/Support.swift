import HTTPTransport
import Testing

extension TransportConfiguration {
    /// May talk to loopback, and waits as long as a busy machine needs.
    static var patient: Self {
        var configuration = Self()
        configuration.allowsPlainHTTP = true
        // A server answers late.
        configuration.totalTimeout = .seconds(600)
        configuration.lowSpeedTimeout = .seconds(600)
        // Minutes pass between two requests of a test, because all other tests have begun, too.
        configuration.idleConnectionTimeout = .seconds(3600)
        return configuration
    }
}

/// Lends a transport that may talk to loopback, and shuts it down.
func withTransport<R>(
    _ adjust: (inout TransportConfiguration) -> Void = { _ in },
    _ body: (CurlTransport) async throws -> R
) async throws -> R {
    var configuration = TransportConfiguration.patient
    adjust(&configuration)
    let transport = try CurlTransport(configuration)
    defer { transport.shutdown() }
    return try await body(transport)
}

/// Sends one GET to a new server that runs `script`, and returns the fault with which it must end.
func fault(
    _ adjust: (inout TransportConfiguration) -> Void = { _ in },
    from script: @escaping @Sendable (Connection) -> Void
) async throws -> TransportFault? {
    let server = try LoopbackServer(script)
    defer { server.stop() }
    return try await withTransport(adjust) { transport in
        await #expect(throws: TransportFault.self) { try await transport.send(HTTPRequest(.get, server.url + "/")) }
    }
}

/// Sends one GET to a server that answers with `bytes` and hangs up.
func response(
    to bytes: [UInt8],
    _ adjust: (inout TransportConfiguration) -> Void = { _ in }
) async throws -> HTTPResponse {
    let server = try LoopbackServer { connection in
        _ = connection.readRequest()
        connection.write(bytes)
    }
    defer { server.stop() }
    return try await withTransport(adjust) { try await $0.send(HTTPRequest(.get, server.url + "/")) }
}

func response(to text: String) async throws -> HTTPResponse { try await response(to: Array(text.utf8)) }

extension String {
    init(_ body: [UInt8]) { self.init(decoding: body, as: UTF8.self) }
}
