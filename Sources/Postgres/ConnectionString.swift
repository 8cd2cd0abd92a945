/// A libpq connection string; it may hold a password, so it never prints.
package struct ConnectionString: Sendable, CustomStringConvertible, CustomReflectable {
    private let conninfo: String
    /// The file of certificate authorities to believe when neither the string nor the user's home names one.
    package let systemRoots: String?

    package init(_ conninfo: String, systemRoots: String? = nil) {
        self.conninfo = conninfo
        self.systemRoots = systemRoots
    }

    /// The one place the text comes out; searchable in review.
    package func reveal() -> String { conninfo }

    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
