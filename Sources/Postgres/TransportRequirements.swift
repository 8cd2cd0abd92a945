import CLibPQ
import Platform

/// The security of a connection: TLS must verify a server on another machine, and that server must not see the password.
///
/// A Unix socket and loopback need no TLS. libpq itself resolves the connection string, because `PGSSLMODE`, `PGHOST`, a
/// service file and a password file are part of the result.
struct TransportRequirements {
    /// Settings that replace the connection string's.
    let overrides: [String: String]
    /// Whether every address must be loopback, because the name `localhost` can resolve to another machine.
    private let mustBeLoopback: Bool

    /// - Parameters:
    ///   - settings: The keywords of the connection string.
    ///   - systemRoots: See ``ConnectionString/systemRoots``.
    ///   - version: The version of libpq, as from `PQlibVersion`.
    /// - Throws: ``PostgresError``: `insecureTransport` when the settings ask for less security; `unreadableConninfo` when
    ///   libpq cannot read them.
    init(
        _ settings: ConnectionSettings,
        systemRoots: String?,
        version: Int32 = PQlibVersion()
    ) throws(PostgresError) {
        let resolved = try ResolvedConnection(settings)
        let places = resolved.places
        let isRemote = !places.allSatisfy(Self.isThisMachine)
        mustBeLoopback = !isRemote && places.contains { $0.lowercased() == "localhost" }
        let mode = resolved["sslmode"] ?? "prefer"
        guard isRemote || mode == "verify-full" else {
            overrides = [:]
            return
        }
        // "prefer" is also libpq's default, so a service file with this value gets the stricter mode, too.
        let isExplicit = settings["sslmode"] != nil || environment("PGSSLMODE") != nil || mode != "prefer"
        guard mode == "verify-full" || !isExplicit else {
            let place = places.first { !Self.isThisMachine($0) } ?? ""
            throw PostgresError(
                .insecureTransport,
                .cannotConnect,
                "sslmode=\(mode) does not verify the server \(place); "
                    + "use sslmode=verify-full, and sslrootcert=FILE for your own certificate authority"
            )
        }
        var overrides = ["sslmode": "verify-full", "gssencmode": "disable"]
        if resolved["ssl_min_protocol_version"] != "TLSv1.3" { overrides["ssl_min_protocol_version"] = "TLSv1.2" }
        if resolved["sslrootcert"] == nil, !Self.hasOwnRoots, let systemRoots { overrides["sslrootcert"] = systemRoots }
        if version >= 160_000 {
            overrides["require_auth"] = try Self.authentication(requested: resolved["require_auth"])
        } else if resolved.mayHavePassword {
            // Before version 16, libpq sends a password unless it requires SCRAM bound to the TLS session.
            overrides["channel_binding"] = "require"
        }
        self.overrides = overrides
    }

    /// - Throws: ``PostgresError`` (`insecureTransport`) for an address of another machine where loopback is required.
    func check(address: String) throws(PostgresError) {
        guard mustBeLoopback, !address.isEmpty, !Self.isLoopback(address) else { return }
        throw PostgresError(
            .insecureTransport,
            .cannotConnect,
            "localhost is \(address) here, which is another machine; use its name, and sslmode=verify-full"
        )
    }

    /// Why the server could not be verified, according to libpq's text; such a connection is not retried.
    ///
    /// The text is English, because nothing in this process calls `setlocale`.
    static func verificationFailure(in text: String) -> String? {
        if text.contains("did not offer an authentication method that supports channel binding") {
            return
                "it offers SCRAM without channel binding, as a pooler such as PgBouncer does, and this libpq (before 16) could then reveal "
                + "the password; use libpq 16 or later, or connect to PostgreSQL itself or over a Unix socket or loopback"
        }
        if text.contains("channel binding") {
            return
                "it does not offer SCRAM with channel binding, without which this libpq (before 16) can reveal the password; "
                + "store the role's password with password_encryption = scram-sha-256"
        }
        if text.contains("authentication method requirement") {
            return "it asks for the password in a form that reveals it; "
                + "store the role's password with password_encryption = scram-sha-256"
        }
        if text.contains("does not support SSL") {
            return "it does not support TLS; set ssl = on there, or connect over a Unix socket or loopback"
        }
        if text.contains("certificate") || text.contains("SSL error:") {
            return "its certificate does not verify; correct it, "
                + "or set sslrootcert to its certificate authority"
        }
        return nil
    }

    /// The value of `require_auth` for libpq 16 and later: everything except a plain password and MD5.
    private static func authentication(requested: String?) throws(PostgresError) -> String {
        let methods = requested?.split(separator: ",").map(String.init) ?? []
        let refused = ["!password", "!md5"]
        if methods.allSatisfy({ $0.hasPrefix("!") }) {
            return (methods + refused.filter { !methods.contains($0) }).joined(separator: ",")
        }
        guard !methods.contains("password"), !methods.contains("md5") else {
            throw PostgresError(
                .insecureTransport,
                .cannotConnect,
                "require_auth=\(methods.joined(separator: ",")) lets the server see the password; use scram-sha-256"
            )
        }
        return methods.joined(separator: ",")
    }

    /// Whether libpq finds the user's own certificate authorities in `root.crt`.
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

/// The settings that libpq derives from a connection string, the environment, the service file and its defaults.
private struct ResolvedConnection {
    private var values: [String: String] = [:]
    /// Whether libpq may have a password; it reports only the first host's.
    let mayHavePassword: Bool

    /// Resolves the settings with libpq, without network access.
    ///
    /// The invalid value of `channel_binding` stops libpq after it has resolved all settings and before it connects.
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
        // sslmode has a default. If it is missing, libpq stopped earlier, for example at an undefined service.
        guard values["sslmode"] != nil else {
            let message = unsafe PQerrorMessage(handle).map { unsafe String(cString: $0) } ?? ""
            let lines = message.split(separator: "\n")
            throw PostgresError(.unreadableConninfo, .cannotConnect, lines.joined(separator: "; "))
        }
        // libpq looks up a password for each host, but reports only the first host's.
        let password = unsafe PQpass(handle).map { unsafe $0.pointee != 0 } ?? false
        mayHavePassword = password || (values["host"] ?? values["hostaddr"] ?? "").contains(",")
    }

    subscript(keyword: String) -> String? { values[keyword] }

    /// The targets in libpq's order: addresses, names or directories; empty for libpq's default, a socket.
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
