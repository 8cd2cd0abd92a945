import HTTPTransport
import Testing

/// A server that misbehaves within HTTP/2.
@Suite(
    .enabled(if: OpenSSLServer.isInstalled && HTTP2Server.isPossible, "openssl or python3 with TLS is not installed")
)
struct HTTP2Tests {
    struct Behavior: CustomTestStringConvertible, Sendable {
        let testDescription: String
        /// Length, type, flags, stream, payload; RFC 9113, section 4.1.
        let frames: [String]
        let reasons: [TransportFault.Reason]
    }

    private static let headers = "000001" + "01" + "04" + "00000001" + "88"  // :status 200, headers complete
    private static let pings = "100000*" + "000008" + "06" + "00" + "00000000" + "0102030405060708"

    static let behaviors = [
        Behavior(
            testDescription: "H39 GOAWAY before the request, which may be sent again",
            frames: ["000008" + "07" + "00" + "00000000" + "0000000000000000"],
            reasons: [.keptConnectionLost, .connectionLost, .protocolError]
        ),
        Behavior(
            testDescription: "H39 GOAWAY inside the answer, and the end",
            frames: [headers, "000008" + "07" + "00" + "00000000" + "0000000100000002"],
            reasons: [.connectionLost, .protocolError, .timedOut, .tooSlow]
        ),
        Behavior(
            testDescription: "H39 RST_STREAM, internal error",
            frames: ["000004" + "03" + "00" + "00000001" + "00000002"],
            reasons: [.protocolError, .connectionLost]
        ),
        Behavior(
            testDescription: "H39 RST_STREAM, refused",
            frames: ["000004" + "03" + "00" + "00000001" + "00000007"],
            reasons: [.keptConnectionLost]
        ),
        Behavior(
            testDescription: "H39 a flood of PING",
            frames: [pings],
            reasons: [.timedOut, .tooSlow, .protocolError, .connectionLost]
        ),
        Behavior(
            testDescription: "H39 a window of 0 and no answer",
            frames: ["000006" + "04" + "00" + "00000000" + "000400000000"],
            reasons: [.timedOut, .tooSlow]
        ),
        Behavior(
            testDescription: "H39 a frame that is none",
            frames: ["ffffff" + "00" + "00" + "00000001"],
            reasons: [.protocolError, .connectionLost]
        ),
    ]

    @Test(arguments: behaviors)
    func `a broken HTTP/2 answer is no response, and the request is sent once`(behavior: Behavior) async throws {
        let keys = try OpenSSLServer()
        defer { keys.stop() }
        let server = try HTTP2Server(certificate: keys.certificate, frames: behavior.frames)
        defer { server.stop() }
        try await withTransport {
            $0.caFile = keys.certificate
            $0.totalTimeout = .seconds(2)
            $0.lowSpeedTimeout = .seconds(1)
        } _: { transport in
            let fault = await #expect(throws: TransportFault.self) {
                let url = "https://localhost:\(server.port)/"
                _ = try await transport.send(HTTPRequest(.post, url, body: [UInt8](repeating: 65, count: 100_000)))
            }
            let reason = try #require(fault?.reason)
            #expect(behavior.reasons.contains(reason), "\(String(describing: fault))")
        }
    }
}
