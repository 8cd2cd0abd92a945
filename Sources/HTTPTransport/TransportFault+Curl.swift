import CLibCurl

/// How far an exchange came before it failed.
struct ExchangeProgress {
    let hasConnected: Bool
    let hasAllHeaders: Bool
    let elapsed: Duration
    let allowed: Duration
}

extension TransportFault {
    /// Says in our words what libcurl says in its own.
    ///
    /// libcurl's sentence, `text`, never quotes what we sent, but may quote the server.
    init(_ code: CURLcode, _ text: String, _ progress: ExchangeProgress) {
        self.init(Self.reason(of: code, text, progress), "\(text.printable) (libcurl \(code.rawValue))")
    }

    /// `CURLE_TOO_LARGE`, which headers older than 8.6.0 do not name.
    private static let tooLarge = CURLcode(rawValue: 100)

    private static func reason(of code: CURLcode, _ text: String, _ progress: ExchangeProgress) -> Reason {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .resolve
        case CURLE_COULDNT_CONNECT: .connect
        case CURLE_OPERATION_TIMEDOUT:
            progress.hasConnected && progress.elapsed < progress.allowed ? .tooSlow : .timedOut
        case CURLE_SSL_CONNECT_ERROR: isRefusedHandshake(text) ? .tls : .connectionLost
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CLIENTCERT, CURLE_USE_SSL_FAILED:
            .tls
        case CURLE_FILESIZE_EXCEEDED: .bodyTooLarge
        // One line longer than libcurl's own limit (100 KiB); older releases call that lack of memory.
        case CURLE_OUT_OF_MEMORY, tooLarge: progress.hasAllHeaders ? .protocolError : .headersTooLarge
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR: .connectionLost
        // Also libcurl's answer to HTTP/0.9, which comes over a connection that works.
        case CURLE_UNSUPPORTED_PROTOCOL: progress.hasConnected ? .protocolError : .invalidRequest
        case CURLE_URL_MALFORMAT: .invalidRequest
        default: .protocolError
        }
    }

    /// libcurl has one code for a handshake that was refused and one that was cut; OpenSSL's words tell them apart.
    private static func isRefusedHandshake(_ text: String) -> Bool {
        [
            "protocol version", "unsupported protocol", "wrong version number", "no protocols available",
            "handshake failure", "no shared cipher", "certificate",
        ].contains { text.contains($0) }
    }
}

extension String {
    /// Printable ASCII only, so that a server cannot write into a log.
    fileprivate var printable: String {
        String(decoding: utf8.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
    }
}
