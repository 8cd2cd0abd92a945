import CLibPQ
import Platform

/// The keywords and values of a connection string, with those that StoreLedger adds.
struct ConnectionSettings {
    private var pairs: [(keyword: String, value: String)]
    /// How long one attempt to connect may take: `connect_timeout` (1 s to an hour, 15 s by default) times the number
    /// of hosts.
    let timeout: Duration

    /// - Throws: ``PostgresError`` (`unreadableConninfo`), without libpq's message, which quotes the string and its
    ///   password.
    init(conninfo: String, applicationName: String = "storeledger") throws(PostgresError) {
        // A file with the string, or a line of YAML, often ends in a line break.
        var conninfo = conninfo[...]
        while conninfo.last?.isNewline == true { conninfo.removeLast() }
        guard !conninfo.contains(where: \.isNewline) else {
            throw unreadable("it contains a line break; write it in one line")
        }
        guard !conninfo.utf8.contains(0), let parsed = parse(String(conninfo)) else {
            if let parameter = Self.foreignParameter(in: conninfo) {
                throw unreadable("\(parameter) is no parameter of PostgreSQL; remove it from the URL")
            }
            throw unreadable(
                "it must be postgresql://… or keyword=value pairs; see \"Connection Strings\" in the PostgreSQL manual"
            )
        }
        pairs = parsed
        try Self.refuseUnencodedPassword(parsed)
        let perHost = parsed.last { $0.keyword == "connect_timeout" }.flatMap { Int64($0.value) } ?? 0
        let seconds = perHost > 0 ? min(perHost, 3_600) : 15
        let hosts =
            parsed.last { $0.keyword == "host" || $0.keyword == "hostaddr" }?.value.split(separator: ",").count ?? 1
        timeout = .seconds(seconds * Int64(max(hosts, 1)))

        pairs.removeAll { $0.keyword == "client_encoding" }
        pairs.append(("client_encoding", "UTF8"))
        for (keyword, value) in [
            ("fallback_application_name", applicationName.cut(toBytes: 63)),
            // Keepalives detect a half-open connection in about a minute. A connection on which the server acknowledges
            // nothing for 8 s is dropped, so that a process ends within 10 s after it is stopped.
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "8000"),
        ] where !parsed.contains(where: { $0.keyword == keyword }) {
            pairs.append((keyword, value))
        }
    }

    /// Parameters that other programs add to URLs.
    private static let foreignParameters: Set<String> = [
        "pgbouncer", "connection_limit", "pool_timeout", "schema", "statement_cache_size", "sslaccept",
        "prepareThreshold",
        "pool_mode", "supa", "currentSchema",
    ]

    /// The name of a parameter of another program in a URL; `nil` if there is none.
    private static func foreignParameter(in url: Substring) -> String? {
        guard let query = url.lastIndex(of: "?") else { return nil }
        return url[url.index(after: query)...].split(separator: "&")
            .compactMap { $0.split(separator: "=").first.map(String.init) }
            .first(where: foreignParameters.contains)
    }

    /// The value of a keyword in the connection string itself.
    subscript(keyword: String) -> String? { pairs.last { $0.keyword == keyword }?.value }

    /// Sets keywords, replacing their values.
    mutating func set(_ replacements: [String: String]) {
        pairs.removeAll { replacements.keys.contains($0.keyword) }
        pairs += replacements.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Calls the closure with keywords and values as the two NULL-terminated arrays that libpq expects.
    func withCStrings<R>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> R
    ) -> R {
        let keywords = unsafe pairs.map { unsafe UnsafePointer<CChar>(strdup($0.keyword)) } + [nil]
        let values = unsafe pairs.map { unsafe UnsafePointer<CChar>(strdup($0.value)) } + [nil]
        defer {
            unsafe (keywords + values).forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) }
        }
        return unsafe body(keywords, values)
    }

    /// Refuses a URI whose password contains an unencoded `@`, `/` or `:`.
    ///
    /// libpq would take a part of the password for the host, port or database, and show it in error messages.
    private static func refuseUnencodedPassword(_ pairs: [(keyword: String, value: String)]) throws(PostgresError) {
        for (keyword, value) in pairs {
            let isPlausible =
                switch keyword {
                case "host", "hostaddr": !value.dropFirst().contains("@")
                case "port": value.allSatisfy { $0.isASCII && $0.isNumber || $0 == "," }
                case "dbname": !value.contains("@")
                default: true
                }
            guard isPlausible else {
                throw unreadable(
                    "its \(keyword) is malformed; special characters in a password need percent-encoding (@ is %40, / is %2F)"
                )
            }
        }
    }
}

extension String {
    /// The longest prefix of whole characters that has at most this many bytes of UTF-8.
    fileprivate func cut(toBytes limit: Int) -> String {
        var kept = self
        while kept.utf8.count > limit { kept.removeLast() }
        return kept
    }
}

private func unreadable(_ hint: String) -> PostgresError {
    PostgresError(.unreadableConninfo, .cannotConnect, "the connection string cannot be read: \(hint)")
}

/// The keywords with a value; `nil` when libpq cannot read the string.
private func parse(_ conninfo: String) -> [(keyword: String, value: String)]? {
    guard let options = unsafe PQconninfoParse(conninfo, nil) else { return nil }
    defer { unsafe PQconninfoFree(options) }
    var pairs: [(String, String)] = []
    var option = unsafe options
    while let keyword = unsafe option.pointee.keyword {
        if let value = unsafe option.pointee.val {
            unsafe pairs.append((String(cString: keyword), String(cString: value)))
        }
        unsafe option += 1
    }
    return pairs
}
