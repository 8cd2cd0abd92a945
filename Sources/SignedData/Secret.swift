/// A value that logs, error messages and debug output do not show.
package struct Secret<Value: Sendable>: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let value: Value

    package init(_ value: Value) {
        self.value = value
    }

    /// The only access to the value, so that a review can search for it.
    package func reveal() -> Value { value }

    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
