/// A libpq connection string; it may hold a password, so it never prints.
package struct ConnectionString: Sendable, CustomStringConvertible, CustomReflectable {
    private let conninfo: String

    package init(_ conninfo: String) {
        self.conninfo = conninfo
    }

    /// The one place the text comes out; searchable in review.
    package func reveal() -> String { conninfo }

    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
