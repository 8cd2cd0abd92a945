/// A libpq connection string.
///
/// It can contain a password, so its description does not.
package struct ConnectionString: Sendable, CustomStringConvertible, CustomReflectable {
    private let conninfo: String
    /// The file of trusted certificate authorities when neither the string nor the user's home directory has one.
    package let systemRoots: String?
    /// The `application_name` of the session, unless the string itself has one.
    package let applicationName: String

    package init(_ conninfo: String, systemRoots: String? = nil, applicationName: String = "storeledger") {
        self.conninfo = conninfo
        self.systemRoots = systemRoots
        self.applicationName = applicationName
    }

    /// The only access to the text, so that a review can search for it.
    package func reveal() -> String { conninfo }

    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
