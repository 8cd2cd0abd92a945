import HTTPTransport
import Testing

/// H41: a connection that was kept for the next request ends under it.
///
/// libcurl would repeat such a request by itself, without counting it.
struct KeptConnectionTests {
    /// How the second request of a connection ends it.
    enum Ending: String, CaseIterable, Sendable {
        case unread, read, reset
    }

    @Test(arguments: Ending.allCases)
    func `H41 a kept connection that ends under a request is reported, and the request is sent once`(ending: Ending)
        async throws
    {
        let server = try closingOnReuse(ending)
        defer { server.stop() }
        try await withTransport { transport async throws in
            for round in 1...10 {
                var request = HTTPRequest(round.isMultiple(of: 2) ? .get : .post, server.url + "/\(round)", body: [65])
                do {
                    #expect(try await transport.send(request).status == 200)
                } catch let fault as TransportFault {
                    #expect(fault.reason == .keptConnectionLost)
                    request.departure.onNewConnection = true
                    #expect(try await transport.send(request).status == 200)
                }
            }
        }
        let lines = server.requests.compactMap { $0.split(separator: "\r\n").first }
        // Each of the later nine arrives once on the connection that ends, if that reads it, and once on the next.
        #expect(lines.count == (ending == .unread ? 10 : 19), "\(lines)")
    }

    @Test func `H41 a request that needs a new connection makes one, which is kept for others`() async throws {
        let server = try closingOnReuse(.read, afterwards: true)
        defer { server.stop() }
        try await withTransport { transport in
            var request = HTTPRequest(.get, server.url + "/")
            _ = try await transport.send(request)
            let sent = request
            let fault = await #expect(throws: TransportFault.self) { try await transport.send(sent) }
            #expect(fault?.reason == .keptConnectionLost)
            request.departure.onNewConnection = true
            #expect(try await transport.send(request).status == 200)
            request.departure.onNewConnection = false
            for _ in 1...4 { #expect(try await transport.send(request).status == 200) }
        }
        #expect(server.requests.count == 7)
        // The first, the one on which the second departure was called off, and the one that is kept.
        #expect(server.accepted == 3)
    }

    /// Whether the request could use a kept connection.
    @Test(arguments: [false, true])
    func `CK3 a request whose time has passed by the time there is a connection is not sent`(isKept: Bool) async throws
    {
        let server = try LoopbackServer { connection in
            while connection.readRequest() != nil { connection.write(answer()) }
        }
        defer { server.stop() }
        try await withTransport { transport async throws in
            var request = HTTPRequest(.get, server.url + "/early")
            request.departure.by = .now + .seconds(60)
            if isKept { #expect(try await transport.send(request).status == 200) }
            request.url = server.url + "/late"
            request.departure.by = .now - .nanoseconds(1)
            let fault = await #expect(throws: TransportFault.self) { try await transport.send(request) }
            #expect(fault?.reason == .tooLate)
            request.departure.by = nil
            #expect(try await transport.send(request).status == 200)
        }
        #expect(server.requests.count == (isKept ? 2 : 1))
    }

    @Test func `H41 a new connection that ends unanswered is an ordinary loss`() async throws {
        let fault = try await fault { _ = $0.readRequest() }
        #expect(fault?.reason == .connectionLost)
    }

    @Test func `H41 a kept connection that ends inside an answer is an ordinary loss`() async throws {
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.write(answer())
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\n")
        }
        defer { server.stop() }
        try await withTransport { transport in
            _ = try await transport.send(HTTPRequest(.get, server.url + "/"))
            let fault = await #expect(throws: TransportFault.self) {
                try await transport.send(HTTPRequest(.get, server.url + "/"))
            }
            #expect(fault?.reason == .connectionLost)
        }
        #expect(server.requests.count == 2)
    }

    /// Answers the first request of each connection and ends it under the second; with `afterwards`, only once.
    private func closingOnReuse(_ ending: Ending, afterwards isKept: Bool = false) throws -> LoopbackServer {
        try LoopbackServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.write(answer())
            while isKept, connection.server.accepted > 1, connection.readRequest() != nil { connection.write(answer()) }
            switch ending {
            case .unread: connection.waitForBytes()
            case .read: _ = connection.readRequest()
            case .reset:
                _ = connection.readRequest()
                connection.reset()
            }
        }
    }
}
