/// A libpq connection string; it may hold a password, so it never prints.
package struct ConnectionString: Sendable, CustomStringConvertible, CustomReflectable {
    private let conninfo: String
    /// The file of certificate authorities to believe when neither the string nor the user's home names one.
    package let systemRoots: String?
    /// What the session calls itself, in `pg_stat_activity` and in errors of others, where the string itself says nothing.
    package let applicationName: String

    package init(_ conninfo: String, systemRoots: String? = nil, applicationName: String = "storeledger") {
        self.conninfo = conninfo
        self.systemRoots = systemRoots
        self.applicationName = applicationName
    }

    /// The one place the text comes out; searchable in review.
    package func reveal() -> String { conninfo }

    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
