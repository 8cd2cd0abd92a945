import CLibPQ
import Glibc

/// What a connection must be like before a password may leave: a server on another machine has to prove by TLS who it
/// is, and does not get to see the password.
///
/// A Unix socket and loopback are the machine itself and may do without. What libpq would do is asked of libpq, because
/// `PGSSLMODE`, `PGHOST`, a service file and a password file have a say in it too.
struct TransportDemands {
    /// Set over whatever the connection string says.
    let words: [String: String]
    /// Whether every address must turn out to be this machine: the name `localhost` is only a name.
    private let mustBeLoopback: Bool

    /// - Parameters:
    ///   - settings: The words of the connection string.
    ///   - systemRoots: See ``ConnectionString/systemRoots``.
    ///   - version: libpq's, as `PQlibVersion` says it.
    /// - Throws: ``PostgresError``: `insecureTransport` where a weaker connection is asked for; `unreadableConninfo`
    ///   where libpq cannot make sense of what it is given.
    init(
        _ settings: ConnectionSettings,
        systemRoots: String?,
        version: Int32 = PQlibVersion()
    ) throws(PostgresError) {
        let plan = try ResolvedConnection(settings)
        let places = plan.places
        let isRemote = !places.allSatisfy(Self.isThisMachine)
        mustBeLoopback = !isRemote && places.contains { $0.lowercased() == "localhost" }
        let mode = plan["sslmode"] ?? "prefer"
        guard isRemote || mode == "verify-full" else {
            words = [:]
            return
        }
        // "prefer" is also what libpq says when nobody has chosen; a service file that says so is only made stricter.
        let isChosen = settings["sslmode"] != nil || environment("PGSSLMODE") != nil || mode != "prefer"
        guard mode == "verify-full" || !isChosen else {
            let place = places.first { !Self.isThisMachine($0) } ?? ""
            throw PostgresError(
                .insecureTransport,
                .cannotConnect,
                "sslmode=\(mode) would talk to \(place) without making sure who answers; "
                    + "write sslmode=verify-full, and sslrootcert=FILE for a certificate authority of your own"
            )
        }
        var words = ["sslmode": "verify-full", "gssencmode": "disable"]
        if plan["ssl_min_protocol_version"] != "TLSv1.3" { words["ssl_min_protocol_version"] = "TLSv1.2" }
        if plan["sslrootcert"] == nil, !Self.hasOwnRoots, let systemRoots { words["sslrootcert"] = systemRoots }
        if version >= 160_000 {
            words["require_auth"] = try Self.authentication(asked: plan["require_auth"])
        } else if plan.mayHavePassword {
            // Before version 16 only a SCRAM that is bound to the TLS session keeps libpq from sending a password.
            words["channel_binding"] = "require"
        }
        self.words = words
    }

    /// - Throws: ``PostgresError`` (`insecureTransport`) for an address that must not be another machine's and is.
    func check(address: String) throws(PostgresError) {
        guard mustBeLoopback, !address.isEmpty, !Self.isLoopback(address) else { return }
        throw PostgresError(
            .insecureTransport,
            .cannotConnect,
            "localhost is \(address) here, which is another machine; write its name, and sslmode=verify-full"
        )
    }

    /// Why a failed connection is no reason to try again: libpq's text says that the server is the wrong one.
    ///
    /// libpq speaks English here, because nothing in this process calls `setlocale`.
    static func distrust(in text: String) -> String? {
        if text.contains("channel binding") {
            return
                "it does not offer SCRAM bound to TLS, which this libpq (before 16) needs to keep the password to itself; "
                + "store the role's password with password_encryption = scram-sha-256"
        }
        if text.contains("authentication method requirement") {
            return "it asks for the password in a form that gives it away; "
                + "store the role's password with password_encryption = scram-sha-256"
        }
        if text.contains("does not support SSL") {
            return "it does not speak TLS; set ssl = on there, or connect over a Unix socket or loopback"
        }
        if text.contains("certificate") || text.contains("SSL error:") {
            return "its certificate does not prove that it is the server named; mend it, "
                + "or name its authority with sslrootcert"
        }
        return nil
    }

    /// What libpq 16 and later may answer to: anything but the password itself and its MD5.
    private static func authentication(asked: String?) throws(PostgresError) -> String {
        let methods = asked?.split(separator: ",").map(String.init) ?? []
        let refused = ["!password", "!md5"]
        if methods.allSatisfy({ $0.hasPrefix("!") }) {
            return (methods + refused.filter { !methods.contains($0) }).joined(separator: ",")
        }
        guard !methods.contains("password"), !methods.contains("md5") else {
            throw PostgresError(
                .insecureTransport,
                .cannotConnect,
                "require_auth=\(methods.joined(separator: ",")) lets the server see the password; write scram-sha-256"
            )
        }
        return methods.joined(separator: ",")
    }

    /// Whether libpq finds `root.crt` by itself, which then names the operator's own authorities.
    private static var hasOwnRoots: Bool {
        guard let home = environment("HOME") else { return false }
        return unsafe access(home + "/.postgresql/root.crt", R_OK) == 0
    }

    private static func isThisMachine(_ place: String) -> Bool {
        place.isEmpty || place.hasPrefix("/") || place.hasPrefix("@") || place.lowercased() == "localhost"
            || isLoopback(place)
    }

    private static func isLoopback(_ address: String) -> Bool {
        var four = in_addr()
        if unsafe inet_pton(AF_INET, address, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
        var six = in6_addr()
        guard unsafe inet_pton(AF_INET6, address, &six) == 1 else { return false }
        let bytes = unsafe withUnsafeBytes(of: six) { unsafe Array($0) }
        let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
        return bytes == [UInt8](repeating: 0, count: 15) + [1] || (bytes.starts(with: mapped) && bytes[12] == 127)
    }
}

/// What libpq makes of a connection string, the environment, the service file and its own defaults together.
private struct ResolvedConnection {
    private var values: [String: String] = [:]
    /// Of libpq's hosts, whose first one's password is known.
    let mayHavePassword: Bool

    /// Asks libpq without a byte on any network: a nonsensical word stops it once it has put everything together.
    init(_ settings: ConnectionSettings) throws(PostgresError) {
        var settings = settings
        settings.set(["channel_binding": "ask-only"])
        let started = unsafe settings.withCStrings { keywords, values in
            unsafe PQconnectStartParams(keywords, values, 0)
        }
        guard let handle = unsafe started else {
            throw PostgresError(.connection, .cannotConnect, "libpq is out of memory")
        }
        defer { unsafe PQfinish(handle) }
        guard let options = unsafe PQconninfo(handle) else {
            throw PostgresError(.connection, .cannotConnect, "libpq is out of memory")
        }
        defer { unsafe PQconninfoFree(options) }
        var option = unsafe options
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val, unsafe value.pointee != 0 {
                unsafe values[String(cString: keyword)] = unsafe String(cString: value)
            }
            unsafe option += 1
        }
        // There is a default for this one: without it libpq gave up before, say over a service nobody has defined.
        guard values["sslmode"] != nil else {
            let words = unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
            let lines = words.split(separator: "\n")
            throw PostgresError(.unreadableConninfo, .cannotConnect, lines.joined(separator: "; "))
        }
        // A password file is looked into for each host; libpq tells only of the first.
        let password = unsafe PQpass(handle).map { unsafe $0.pointee != 0 } ?? false
        mayHavePassword = password || (values["host"] ?? values["hostaddr"] ?? "").contains(",")
    }

    subscript(keyword: String) -> String? { values[keyword] }

    /// Where libpq would go, in its order: an address, a name or a directory; empty for its own default, a socket.
    var places: [String] {
        func list(_ keyword: String) -> [String] {
            (values[keyword] ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let hosts = list("host")
        let addresses = list("hostaddr")
        return (0..<max(hosts.count, addresses.count)).map { index in
            if index < addresses.count, !addresses[index].isEmpty { return addresses[index] }
            return index < hosts.count ? hosts[index] : ""
        }
    }
}

private func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
    return unsafe String(cString: value)
}
