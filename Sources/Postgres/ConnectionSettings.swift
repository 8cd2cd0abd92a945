import CLibPQ
import Glibc

/// The words of a connection string, with ours added.
struct ConnectionSettings {
    private var words: [(keyword: String, value: String)]
    /// For the whole attempt, over all the hosts it names: `connect_timeout`, 1 s to an hour, for each; 15 s by default.
    let timeout: Duration

    /// - Throws: ``PostgresError`` (`unreadableConninfo`). libpq's own complaint is dropped: it quotes the string, and
    ///   with it the password.
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
            // A half-open connection is noticed in about a minute. A server that takes in nothing of what it is sent is
            // given up after 8 s: whoever stops a process waits no longer than ten.
            ("keepalives_idle", "30"), ("keepalives_interval", "10"), ("keepalives_count", "3"),
            ("tcp_user_timeout", "8000"),
        ] where !parsed.contains(where: { $0.keyword == keyword }) {
            words.append((keyword, value))
        }
    }

    /// The value the connection string itself gives a keyword.
    subscript(keyword: String) -> String? { words.last { $0.keyword == keyword }?.value }

    /// Sets keywords, in place of what they were.
    mutating func set(_ demands: [String: String]) {
        words.removeAll { demands.keys.contains($0.keyword) }
        words += demands.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Lends keywords and values as the two NULL-ended arrays that libpq takes.
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

    /// A password with a bare `@`, `/` or `:` in a URI ends up in the host, port or database, and then in error messages.
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
    /// The longest beginning of whole characters that takes no more than so many bytes of UTF-8.
    fileprivate func cut(toBytes limit: Int) -> String {
        var kept = self
        while kept.utf8.count > limit { kept.removeLast() }
        return kept
    }
}

private func unreadable(_ hint: String) -> PostgresError {
    PostgresError(.unreadableConninfo, .cannotConnect, "the connection string cannot be read: \(hint)")
}

/// The keywords that have a value; `nil` if libpq cannot read the string.
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
