import AppStoreModel
import JobSyntax

/// A server that a job may use: Apple's for its environment, or one on this machine.
struct ServerAddress {
    /// Scheme, host and port in lower case, without a trailing slash.
    ///
    /// It is the same for both of Apple's hosts, so that records and runs of both belong together.
    let text: String
    /// The address that requests go to.
    let requestText: String
    let isLoopback: Bool

    /// `nil` for every other server, and for a URL with a user, path, query or fragment.
    init?(_ written: String, in environment: AppStoreEnvironment) {
        // Only ASCII: lowercasing can turn other Unicode letters into ASCII letters.
        guard written.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        let address = written.lowercased()
        requestText = address.hasSuffix("/") ? String(address.dropLast()) : address
        if [environment.baseURL, environment.earlierBaseURL].contains(requestText) {
            text = environment.baseURL
            isLoopback = false
            return
        }
        text = requestText
        let schemes = ["http://", "https://"]
        guard let scheme = schemes.first(where: text.hasPrefix), Self.isLoopback(text.dropFirst(scheme.count)) else {
            return nil
        }
        isLoopback = true
    }

    /// Whether a host, with or without a port, is a loopback address.
    static func isLoopback(_ authority: Substring) -> Bool {
        for host in ["localhost", "[::1]"] where authority.hasPrefix(host) {
            return isPort(authority.dropFirst(host.count))
        }
        let host = authority.prefix { $0 != ":" }
        return isLoopbackIPv4(host) && isPort(authority.dropFirst(host.count))
    }

    /// An address in 127.0.0.0/8 as four decimal numbers without leading zeros; programs disagree about other
    /// notations.
    private static func isLoopbackIPv4(_ host: Substring) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { isDecimal($0, upTo: 255) }
    }

    private static func isPort(_ suffix: Substring) -> Bool {
        suffix.isEmpty || suffix.hasPrefix(":") && suffix != ":0" && isDecimal(suffix.dropFirst(), upTo: 65_535)
    }

    private static func isDecimal(_ text: Substring, upTo limit: Int) -> Bool {
        guard (1...5).contains(text.count), text.utf8.allSatisfy(isDigit),
            text == "0" || !text.hasPrefix("0"), let value = Int(text)
        else { return false }
        return value <= limit
    }
}
