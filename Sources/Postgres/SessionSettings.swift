import CLibPQ

/// Parameters that a connection sets for its statements; a role or a database can have other defaults.
package struct SessionSettings: Sendable {
    package struct Setting: Sendable {
        let name: String
        let value: String
        /// The first server version that has the parameter, as `PQserverVersion` says it.
        let version: Int32
        /// The parameter is set only where it has this value; `nil` if always.
        let replaced: String?

        /// - Parameter value: In the form of `SET`.
        package init(_ name: String, _ value: String, since version: Int32 = 0, insteadOf replaced: String? = nil) {
            self.name = name
            self.value = value
            self.version = version
            self.replaced = replaced
        }
    }

    /// How long a setting lasts.
    enum Scope: String {
        case session = "SESSION"
        case transaction = "LOCAL"
    }

    private var settings: [Setting]

    /// The parameters on which this target relies.
    package static let standard = Self(settings: [
        Setting("TimeZone", "'UTC'"), Setting("DateStyle", "'ISO, YMD'"), Setting("bytea_output", "'hex'"),
        Setting("standard_conforming_strings", "on"),
    ])

    package func adding(_ settings: [Setting]) -> Self { Self(settings: self.settings + settings) }

    /// The statements that set the parameters; they take no snapshot.
    func statements(_ scope: Scope) -> String {
        settings.map { "SET \(scope.rawValue) \($0.name) = \($0.value); " }.joined()
    }

    /// The statements that give the parameters their defaults in the session.
    var resets: String { settings.map { "RESET \($0.name); " }.joined() }

    /// Those that the session needs.
    func needed(by handle: OpaquePointer) throws(PostgresError) -> Self {
        var needed: [Setting] = []
        for setting in settings where unsafe PQserverVersion(handle) >= setting.version {
            if let replaced = setting.replaced {
                let sql = "SHOW \(setting.name)"
                let rows = unsafe PostgresRows(owning: PQexec(handle, sql), statement: sql)
                if let failure = unsafe rows.failure(on: handle) { throw failure }
                guard try rows[0].text(setting.name) == replaced else { continue }
            }
            needed.append(setting)
        }
        return Self(settings: needed)
    }
}
