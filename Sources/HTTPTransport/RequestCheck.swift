import CLibCurl

/// Refuses an invalid request before it is passed to libcurl.
struct RequestCheck {
    let allowsPlainHTTP: Bool

    func callAsFunction(_ request: HTTPRequest) throws(TransportFault) {
        try check(url: request.url)
        for header in request.headers {
            guard !header.name.isEmpty, header.name.utf8.allSatisfy(isTokenByte) else {
                throw TransportFault(.invalidRequest, "A header's name is empty or not an HTTP token.")
            }
            guard header.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
                throw TransportFault(
                    .invalidRequest,
                    "The value of the header \(header.name) contains a line break or another control character."
                )
            }
        }
    }

    private func check(url: String) throws(TransportFault) {
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw TransportFault(
                .invalidRequest,
                "The URL contains a space, a control character or a character beyond ASCII; it must be percent-encoded."
            )
        }
        guard let parts = URLParts(url) else {
            throw TransportFault(.invalidRequest, "The URL must be absolute and without user name and password.")
        }
        switch parts.scheme {
        case "https": break
        case "http" where allowsPlainHTTP && parts.isLoopback: break
        case "http":
            throw TransportFault(.invalidRequest, "The URL is plain http; that is allowed only for a loopback host.")
        default: throw TransportFault(.invalidRequest, "The URL's scheme is not https.")
        }
    }

    /// Whether the byte is allowed in a token; RFC 9110, section 5.6.2.
    private func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

/// A URL as libcurl parses it, so that the check and the connection use the same host.
private struct URLParts {
    let scheme: String
    private let host: String

    /// Returns `nil` when libcurl cannot parse the URL or it contains credentials.
    init?(_ url: String) {
        guard let parsed = unsafe curl_url() else { return nil }
        defer { unsafe curl_url_cleanup(parsed) }
        let flags = UInt32(CURLU_DISALLOW_USER | CURLU_PATH_AS_IS)
        guard unsafe curl_url_set(parsed, CURLUPART_URL, url, flags) == CURLUE_OK,
            let scheme = unsafe Self.part(CURLUPART_SCHEME, of: parsed),
            let host = unsafe Self.part(CURLUPART_HOST, of: parsed)
        else { return nil }
        self.scheme = scheme
        self.host = host.lowercased()
    }

    var isLoopback: Bool {
        if host == "localhost" || host == "[::1]" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
        return numbers.count == 4 && numbers.allSatisfy { UInt8($0) != nil } && numbers[0] == "127"
    }

    private static func part(_ part: CURLUPart, of url: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_get(url, part, &text, 0) == CURLUE_OK, let text = unsafe text else { return nil }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }
}
