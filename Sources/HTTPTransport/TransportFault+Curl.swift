import Basics
import CLibCurl

/// How far an exchange got before it failed.
struct ExchangeProgress {
    let hasConnected: Bool
    let hasAllHeaders: Bool
    let elapsed: Duration
    let allowed: Duration
}

extension TransportFault {
    /// Classifies an error of libcurl.
    ///
    /// - Parameters:
    ///   - code: libcurl's error.
    ///   - text: libcurl's message. It never quotes the request, but can quote the server.
    ///   - progress: How far the exchange got.
    init(_ code: CURLcode, _ text: String, _ progress: ExchangeProgress) {
        self.init(
            Self.reason(of: code, text, progress),
            "\(printable(text, asciiOnly: true)) (libcurl \(code.rawValue))"
        )
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
        // A header line longer than libcurl's limit of 100 KiB; older releases report it as lack of memory.
        case CURLE_OUT_OF_MEMORY, tooLarge: progress.hasAllHeaders ? .protocolError : .headersTooLarge
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR: .connectionLost
        // libcurl also reports this for an HTTP/0.9 answer, after it has connected.
        case CURLE_UNSUPPORTED_PROTOCOL: progress.hasConnected ? .protocolError : .invalidRequest
        case CURLE_URL_MALFORMAT: .invalidRequest
        default: .protocolError
        }
    }

    /// libcurl has the same code for a refused handshake and an interrupted one; OpenSSL's text distinguishes them.
    private static func isRefusedHandshake(_ text: String) -> Bool {
        [
            "protocol version", "unsupported protocol", "wrong version number", "no protocols available",
            "handshake failure", "no shared cipher", "certificate",
        ].contains { text.contains($0) }
    }
}
