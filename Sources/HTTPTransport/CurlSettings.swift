import CLibCurl

/// A configuration as a list of libcurl options, which is applied to every request.
struct CurlSettings: Sendable {
    enum Value: Sendable {
        case long(Int)
        case offset(Int64)
        case string(String)
        /// No value, not even libcurl's built-in default.
        case none
    }

    let options: [(CURLoption, Value)]
    let limits: TransportConfiguration
    /// Milliseconds; see ``SocketOptions``.
    var unacknowledgedTimeout: Int { limits.unacknowledgedTimeout.milliseconds }

    init(_ configuration: TransportConfiguration) throws(TransportFault) {
        limits = configuration
        let protocols = configuration.allowsPlainHTTP ? "https,http" : "https"
        options = [
            (CURLOPT_NOSIGNAL, .long(1)),
            (CURLOPT_PROTOCOLS_STR, .string(protocols)),
            (CURLOPT_REDIR_PROTOCOLS_STR, .string("https")),
            (CURLOPT_FOLLOWLOCATION, .long(0)),
            (CURLOPT_UNRESTRICTED_AUTH, .long(0)),
            // Otherwise libcurl resolves `..` in the path, and an ID could address another endpoint.
            (CURLOPT_PATH_AS_IS, .long(1)),
            (CURLOPT_NETRC, .long(Int(CURL_NETRC_IGNORED.rawValue))),
            // Empty, not unset: if unset, libcurl reads environment variables.
            (CURLOPT_PROXY, .string("")),
            (CURLOPT_SSL_VERIFYPEER, .long(1)),
            (CURLOPT_SSL_VERIFYHOST, .long(2)),
            (CURLOPT_SSLVERSION, .long(Int(CURL_SSLVERSION_TLSv1_2))),
            (CURLOPT_CAINFO, .string(try CertificateBundle.path(configured: configuration.caFile))),
            (CURLOPT_CAPATH, .none),
            (CURLOPT_HTTP_VERSION, .long(Int(CURL_HTTP_VERSION_2TLS))),
            (CURLOPT_ACCEPT_ENCODING, .string("gzip")),
            (CURLOPT_USERAGENT, .string(configuration.userAgent)),
            (CURLOPT_MAXFILESIZE_LARGE, .offset(Int64(configuration.maximumBodyBytes))),
            (CURLOPT_CONNECTTIMEOUT_MS, .long(configuration.connectTimeout.milliseconds)),
            (CURLOPT_TIMEOUT_MS, .long(configuration.totalTimeout.milliseconds)),
            (CURLOPT_LOW_SPEED_LIMIT, .long(configuration.lowSpeedBytesPerSecond)),
            (CURLOPT_LOW_SPEED_TIME, .long(configuration.lowSpeedTimeout.wholeSeconds)),
            (CURLOPT_MAXAGE_CONN, .long(configuration.idleConnectionTimeout.wholeSeconds)),
        ]
    }
}

/// At least 1, because 0 means "no limit" for libcurl.
extension Duration {
    fileprivate var milliseconds: Int {
        let (seconds, attoseconds) = components
        return max(1, Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
    }

    fileprivate var wholeSeconds: Int { max(1, Int(components.seconds)) }
}
