/// A PostgreSQL connection string, which may hold a password and therefore never shows itself.
package struct DatabaseURL: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let text: String

    package init(_ text: String) {
        self.text = text
    }

    /// The connection string itself, for libpq and nothing else.
    package func reveal() -> String { text }

    package var description: String { "<redacted>" }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
