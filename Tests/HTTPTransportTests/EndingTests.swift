import HTTPTransport
import Testing

/// How an exchange, and the transport, end before their time.
struct EndingTests {
    @Test
    func `cancelling hangs up on the server and spares the others`() async throws {
        let server = try LoopbackServer { connection in
            while let request = connection.readRequest() {
                guard request.hasPrefix("GET /quick ") else { return connection.waitForClose() }
                connection.write(answer())
            }
        }
        defer { server.stop() }
        try await withTransport { transport in
            let url = server.url
            let stuck = Task { try await transport.send(HTTPRequest(.get, url + "/stuck")) }
            for await event in server.events { if case .request = event { break } }
            stuck.cancel()
            await #expect(throws: CancellationError.self) { try await stuck.value }
            for await event in server.events where event == .closed { break }
            let response = try await transport.send(HTTPRequest(.get, url + "/quick"))
            #expect(response.status == 200)
        }
    }

    @Test
    func `a task cancelled beforehand sends nothing that lasts`() async throws {
        let server = try LoopbackServer { $0.waitForClose() }
        defer { server.stop() }
        try await withTransport { transport in
            let url = server.url + "/"
            await withTaskGroup(of: Void.self) { group in
                group.cancelAll()
                group.addTask {
                    await #expect(throws: CancellationError.self) { try await transport.send(HTTPRequest(.get, url)) }
                }
            }
        }
    }

    @Test
    func `a shutdown fails the waiting requests, and later ones`() async throws {
        let server = try LoopbackServer { connection in
            _ = connection.readRequest()
            connection.waitForClose()
        }
        defer { server.stop() }
        try await withTransport { transport in
            let url = server.url + "/"
            let waiting = Task { try await transport.send(HTTPRequest(.get, url)) }
            for await event in server.events { if case .request = event { break } }
            transport.shutdown()
            for attempt in 1...2 {
                let fault = await #expect(throws: TransportFault.self) {
                    _ = attempt == 1 ? try await waiting.value : try await transport.send(HTTPRequest(.get, url))
                }
                #expect(fault?.reason == .unavailable)
            }
        }
    }

    @Test
    func `shutting down closes the connections that were kept`() async throws {
        let server = try LoopbackServer { _ in answer() }
        defer { server.stop() }
        try await withTransport { transport in
            _ = try await transport.send(HTTPRequest(.get, server.url + "/"))
            transport.shutdown()
            for await event in server.events where event == .closed { break }
        }
    }

    @Test
    func `transports come and go`() async throws {
        let server = try LoopbackServer { _ in answer() }
        defer { server.stop() }
        for number in 1...20 {
            let transport = try CurlTransport(.patient)
            let response = try await transport.send(HTTPRequest(.get, server.url + "/"))
            #expect(response.status == 200)
            // Every other one is only let go; its thread must end by itself.
            if number.isMultiple(of: 2) { transport.shutdown() }
        }
    }
}
