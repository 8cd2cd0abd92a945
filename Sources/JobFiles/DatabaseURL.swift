/// A PostgreSQL connection string.
///
/// It can contain a password, so its description is `<redacted>`.
package struct DatabaseURL: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// The connection string.
    ///
    /// Pass it only to libpq.
    package func reveal() -> String { text }

    package var description: String { "<redacted>" }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
