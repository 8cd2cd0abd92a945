import HTTPTransport
import Testing

/// How requests end when a server cuts, stalls, lies or floods.
struct FaultTests {
    @Test(arguments: [0, 1, 10, 19])
    func `H30 a body cut before its length is no response`(kept: Int) async throws {
        let fault = try await fault { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n" + String(repeating: "x", count: kept))
        }
        #expect(fault?.reason == .connectionLost)
    }

    @Test(arguments: ["5\r\nhello\r\n", "5\r\nhel", ""])
    func `H31 a chunked body without its end is no response`(chunks: String) async throws {
        let fault = try await fault { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks)
        }
        #expect(fault?.reason == .connectionLost)
    }

    /// Bytes that are no response, under the names of the plan's cases.
    struct Distrusted: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let bytes: String

        init(_ testDescription: String, _ headers: String, _ body: String = "{}") {
            self.testDescription = testDescription
            bytes =
                headers.hasPrefix("HTTP") || headers.hasPrefix("SSH")
                ? headers : "HTTP/1.1 200 OK\r\n\(headers)\r\n\r\n\(body)"
        }
    }

    @Test(arguments: [
        Distrusted("H31 a chunk of no size", "Transfer-Encoding: chunked", "xyz\r\nhello\r\n0\r\n\r\n"),
        Distrusted("H31 a chunk of negative size", "Transfer-Encoding: chunked", "-5\r\nhello\r\n0\r\n\r\n"),
        Distrusted("H31 a chunk larger than any", "Transfer-Encoding: chunked", "FFFFFFFFFFFFFFFFFF\r\nhello\r\n"),
        Distrusted("H32 a negative length", "Content-Length: -1", "hello"),
        Distrusted("H32 two different lengths", "Content-Length: 2\r\nContent-Length: 5", "hello"),
        Distrusted("H36 Brotli", "Content-Encoding: br\r\nContent-Length: 2"),
        Distrusted("H36 Zstandard", "Content-Encoding: zstd\r\nContent-Length: 2"),
        Distrusted("H36 deflate", "Content-Encoding: deflate\r\nContent-Length: 2"),
        Distrusted("H36 an unknown coding", "Content-Encoding: secret\r\nContent-Length: 2"),
        Distrusted("gzip that is none", "Content-Encoding: gzip\r\nContent-Length: 2"),
        Distrusted("another HTTP", "HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\n{}"),
        Distrusted("another protocol", "SSH-2.0-OpenSSH_9.2\r\n\r\n\r\n\r\n\r\n"),
    ])
    func `what is not trustworthy HTTP is no response`(answer: Distrusted) async throws {
        let fault = try await fault { connection in
            _ = connection.readRequest()
            connection.write(answer.bytes)
        }
        let reason = try #require(fault?.reason)
        #expect([.protocolError, .connectionLost].contains(reason), "\(reason)")
    }

    @Test
    func `H32 a body longer than its length is cut there`() async throws {
        let response = try await response(to: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}, and more")
        #expect(String(response.body) == "{}")
    }

    @Test(
        arguments: [
            "", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nDate: today\r\n",
            "HTTP/1.1 103 Early Hints\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
        ],
        [true, false]
    )
    func `H33 a connection that ends early is lost`(beginning: String, isReset: Bool) async throws {
        let fault = try await fault { connection in
            _ = connection.readRequest()
            connection.write(beginning)
            if isReset { connection.reset() }
        }
        #expect(fault?.reason == .connectionLost)
    }

    @Test
    func `H33 a port without a listener is a failure to connect`() async throws {
        // Port 1: the port of a stopped server may be another test's server by now.
        try await withTransport { transport in
            let fault = await #expect(throws: TransportFault.self) {
                try await transport.send(HTTPRequest(.get, "http://127.0.0.1:1/"))
            }
            #expect(fault?.reason == .connect)
        }
    }

    @Test
    func `H33 a server that never answers costs the total time and no more`() async throws {
        let fault = try await fault {
            $0.totalTimeout = .milliseconds(100)
        } from: {
            $0.waitForClose()
        }
        #expect(fault?.reason == .timedOut)
    }

    @Test
    func `H33 a handshake that never ends costs the connect time and no more`() async throws {
        let server = try LoopbackServer { $0.waitForClose() }
        defer { server.stop() }
        try await withTransport {
            $0.connectTimeout = .milliseconds(100)
        } _: { transport in
            let fault = await #expect(throws: TransportFault.self) {
                try await transport.send(HTTPRequest(.get, "https://127.0.0.1:\(server.port)/"))
            }
            #expect(fault?.reason == .timedOut)
        }
    }

    @Test
    func `H34 a slow drip is too slow`() async throws {
        let fault = try await fault {
            $0.lowSpeedTimeout = .seconds(1)
        } from: { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
            // Ten bytes a second, until the client has enough.
            while !connection.isClosed(within: 100) { connection.write("x") }
        }
        #expect(fault?.reason == .tooSlow)
    }

    @Test(arguments: ["Content-Length: 101\r\n\r\n", "\r\n"])
    func `H35 a body over the limit is refused, one at the limit is taken`(headers: String) async throws {
        let head = "HTTP/1.1 200 OK\r\n" + headers
        let fault = try await fault {
            $0.maximumBodyBytes = 100
        } from: { connection in
            _ = connection.readRequest()
            connection.write(head + String(repeating: "x", count: 101))
        }
        #expect(fault?.reason == .bodyTooLarge)

        let whole = Array(("HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 100)).utf8)
        #expect(try await response(to: whole) { $0.maximumBodyBytes = 100 }.body.count == 100)
    }

    @Test
    func `H35 a gzip bomb is refused at the limit`() async throws {
        let bomb = gzippedZeros(periods: 40_000)
        let fault = try await fault { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
            connection.write(bomb)
        }
        #expect(bomb.count < 4 << 20)
        #expect(fault == TransportFault(.bodyTooLarge, "The body is larger than 4194304 bytes."))
    }

    @Test(arguments: [
        Repeated("A: " + String(repeating: "x", count: 20 << 10) + "\r\n", 1),
        Repeated("A: " + String(repeating: "x", count: 300 << 10) + "\r\n", 1),
        Repeated("A: b\r\n", 10_000),
        Repeated("A: b\r\n", 101),
        Repeated("\r\nHTTP/1.1 103 Early Hints\r\n", 1_000),
    ])
    func `H38 headers over the limit are refused`(headers: Repeated) async throws {
        let fault = try await fault { connection in
            _ = connection.readRequest()
            connection.write(
                "HTTP/1.1 103 Early Hints\r\n" + headers.text + "\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
            )
        }
        #expect(fault?.reason == .headersTooLarge)
    }

    @Test
    func `H29 a server's text becomes printable`() async throws {
        let fault = try await fault { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: \u{1B}[31m\r\n\r\nx")
        }
        let detail = fault?.detail ?? ""
        #expect(detail.utf8.allSatisfy { (0x20...0x7E).contains($0) })
    }
}

/// A text too long for the name of a test case.
struct Repeated: CustomTestStringConvertible, Sendable {
    let text: String
    let testDescription: String

    init(_ part: String, _ count: Int) {
        text = String(repeating: part, count: count)
        testDescription = "\(part.prefix(30).debugDescription), \(part.utf8.count) bytes, \(count) times"
    }
}

/// A gzip stream of zeros that grows by 2,064 bytes for each 13 sent: one literal zero, then matches of length 258.
private func gzippedZeros(periods: Int) -> [UInt8] {
    let header: [UInt8] = [0x1f, 0x8b, 0x08, 0, 0, 0, 0, 0, 0, 0xff]
    let period: [UInt8] = [0x05, 0xa3, 0x60, 0x14, 0x8c, 0x82, 0x51, 0x30, 0x0a, 0x46, 0xc1, 0x28, 0x18]
    return header + [0x63, 0x18] + Array(repeatElement(period, count: periods).joined())
}
