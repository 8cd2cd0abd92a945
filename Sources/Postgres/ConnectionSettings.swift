import CLibPQ
import Glibc

/// The keywords and values of a connection string, with those that StoreLedger adds.
struct ConnectionSettings {
    private var words: [(keyword: String, value: String)]
    /// The time for an attempt with all hosts: `connect_timeout` for each host, 1 s to an hour, 15 s by default.
    let timeout: Duration

    /// - Throws: ``PostgresError`` (`unreadableConninfo`), without libpq's message, which quotes the string and its
    ///   password.
    init(conninfo: String, applicationName: String = "storeledger") throws(PostgresError) {
        guard !conninfo.utf8.contains(0), let parsed = parse(conninfo) else {
            throw unreadable(
                "it must be postgresql://… or keyword=value words, PostgreSQL manual, \"Connection Strings\""
            )
        }
        words = parsed
        try Self.refuseSpilledPassword(parsed)
        let perHost = parsed.last { $0.keyword == "connect_timeout" }.flatMap { Int64($0.value) } ?? 0
        let seconds = perHost > 0 ? min(perHost, 3_600) : 15
        let hosts =
            parsed.last { $0.keyword == "host" || $0.keyword == "hostaddr" }?.value.split(separator: ",").count ?? 1
        timeout = .seconds(seconds * Int64(max(hosts, 1)))

        words.removeAll { $0.keyword == "client_encoding" }
        words.append(("client_encoding", "UTF8"))
        for (keyword, value) in [
            ("fallback_application_name", applicationName.cut(toBytes: 63)),
            // Keepalives detect a half-open connection in about a minute. A server that acknowledges nothing is given up
            // after 8 s, so that a process that is told to stop ends within ten.
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "8000"),
        ] where !parsed.contains(where: { $0.keyword == keyword }) {
            words.append((keyword, value))
        }
    }

    /// The value of a keyword in the connection string itself.
    subscript(keyword: String) -> String? { words.last { $0.keyword == keyword }?.value }

    /// Sets keywords, replacing their values.
    mutating func set(_ demands: [String: String]) {
        words.removeAll { demands.keys.contains($0.keyword) }
        words += demands.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Calls the closure with keywords and values as the two NULL-terminated arrays that libpq expects.
    func withCStrings<R>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> R
    ) -> R {
        let keywords = unsafe words.map { unsafe UnsafePointer<CChar>(strdup($0.keyword)) } + [nil]
        let values = unsafe words.map { unsafe UnsafePointer<CChar>(strdup($0.value)) } + [nil]
        defer {
            unsafe (keywords + values).forEach { unsafe free(UnsafeMutablePointer(mutating: $0)) }
        }
        return unsafe body(keywords, values)
    }

    /// Refuses a URI whose password contains an unencoded `@`, `/` or `:`.
    ///
    /// A part of the password would become the host, port or database, and then appear in error messages.
    private static func refuseSpilledPassword(_ words: [(keyword: String, value: String)]) throws(PostgresError) {
        for (keyword, value) in words {
            let isFine =
                switch keyword {
                case "host", "hostaddr": !value.dropFirst().contains("@")
                case "port": value.allSatisfy { $0.isASCII && $0.isNumber || $0 == "," }
                case "dbname": !value.contains("@")
                default: true
                }
            guard isFine else {
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
    var words: [(String, String)] = []
    var option = unsafe options
    while let keyword = unsafe option.pointee.keyword {
        if let value = unsafe option.pointee.val {
            unsafe words.append((String(cString: keyword), String(cString: value)))
        }
        unsafe option += 1
    }
    return words
}
