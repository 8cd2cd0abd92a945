/// The name of a stream: one of Apple's endpoints that a job can name under `streams`.
///
/// Job files, tables, logs and metrics use it. `JobPlan/Streams` defines each stream.
package struct StreamName: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package init(_ name: String) { rawValue = name }
}
