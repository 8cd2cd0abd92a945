/// A value that no log, error message or debugger dump shows by accident.
package struct Secret<Value: Sendable>: Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    private let value: Value

    package init(_ value: Value) {
        self.value = value
    }

    /// The one place the value comes out; search for it in review.
    package func reveal() -> Value { value }

    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
