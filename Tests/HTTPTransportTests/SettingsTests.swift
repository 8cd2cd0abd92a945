import CLibCurl
import Glibc
import Testing

@testable import HTTPTransport

/// What libcurl's options are for every request.
struct SettingsTests {
    private func written(_ configuration: TransportConfiguration) throws -> [UInt32: String] {
        let options = try CurlSettings(configuration).options.map { option, value in
            (option.rawValue, String(describing: value))
        }
        return try #require(Dictionary(options) { _, _ in "set twice" } as [UInt32: String]?)
    }

    /// Options and values of the plan, and no other.
    @Test func `production's settings are these and no others`() throws {
        let bundle = try CertificateBundle.path(configured: nil)
        let expected: [(CURLoption, CurlSettings.Value)] = [
            (CURLOPT_NOSIGNAL, .long(1)),
            (CURLOPT_PROTOCOLS_STR, .string("https")), (CURLOPT_REDIR_PROTOCOLS_STR, .string("https")),
            (CURLOPT_FOLLOWLOCATION, .long(0)), (CURLOPT_UNRESTRICTED_AUTH, .long(0)), (CURLOPT_PATH_AS_IS, .long(1)),
            (CURLOPT_NETRC, .long(Int(CURL_NETRC_IGNORED.rawValue))), (CURLOPT_PROXY, .string("")),
            (CURLOPT_SSL_VERIFYPEER, .long(1)), (CURLOPT_SSL_VERIFYHOST, .long(2)),
            (CURLOPT_SSLVERSION, .long(Int(CURL_SSLVERSION_TLSv1_2))),
            (CURLOPT_CAINFO, .string(bundle)), (CURLOPT_CAPATH, .none),
            (CURLOPT_HTTP_VERSION, .long(Int(CURL_HTTP_VERSION_2TLS))), (CURLOPT_ACCEPT_ENCODING, .string("gzip")),
            (CURLOPT_USERAGENT, .string("StoreLedger")), (CURLOPT_MAXFILESIZE_LARGE, .offset(4 << 20)),
            (CURLOPT_CONNECTTIMEOUT_MS, .long(10_000)), (CURLOPT_TIMEOUT_MS, .long(30_000)),
            (CURLOPT_LOW_SPEED_LIMIT, .long(100)), (CURLOPT_LOW_SPEED_TIME, .long(15)),
            (CURLOPT_MAXAGE_CONN, .long(118)),
        ]
        let found = try written(TransportConfiguration())
        #expect(found.count == expected.count)
        for (option, value) in expected {
            #expect(found[option.rawValue] == String(describing: value), "option \(option.rawValue)")
        }
        // Cookies are kept only if a file for them is named, even an empty one.
        #expect(found[CURLOPT_COOKIEFILE.rawValue] == nil && found[CURLOPT_COOKIEJAR.rawValue] == nil)
        let limits = TransportConfiguration()
        #expect(limits.maximumHeaderBytes == 16 << 10 && limits.maximumHeaderFields == 100)
    }

    @Test func `a rehearsal over loopback differs in one setting`() throws {
        var configuration = TransportConfiguration()
        configuration.allowsPlainHTTP = true
        let (production, rehearsal) = (try written(TransportConfiguration()), try written(configuration))
        let differing = production.keys.filter { production[$0] != rehearsal[$0] }
        #expect(differing == [CURLOPT_PROTOCOLS_STR.rawValue])
    }

    @Test func `H47 a name without an address is a failure to resolve`() async throws {
        try await withTransport { transport in
            let fault = await #expect(throws: TransportFault.self) {
                // RFC 6761 keeps this name without an address for ever.
                try await transport.send(HTTPRequest(.get, "https://nobody.invalid/"))
            }
            #expect([.resolve, .timedOut].contains(fault?.reason))
        }
    }
}
