/// The name of one of Apple's endpoints: a stream, which a job can name under `streams`, or an action.
///
/// Job files, tables, limits, logs and metrics use it. `Streams` and `ActionKinds` define each.
package struct StreamName: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package init(_ name: String) { rawValue = name }
}
