/// One entry point for external bytes, and the invariants that are true for any input.
///
/// The fuzzer calls ``check`` with inputs it makes up; the replay test calls it with every stored input.
package struct FuzzTarget: Sendable, CustomStringConvertible {
    /// As `scripts/fuzz` and the folders of `Tests/Fuzz` name it.
    package let name: String
    /// Bytes; longer inputs find nothing that shorter ones do not.
    package let longestInput: Int
    /// Throws ``BrokenPromise`` when an invariant is broken.
    package let check: @Sendable ([UInt8]) throws -> Void

    package static let all: [FuzzTarget] = [
        .signedRecord, .certificateChain, .record, .page, .errorBody, .retryAfter, .jobFile, .idList, .cursorRow,
        .receipt,
    ]

    package var description: String { name }
}

/// An invariant is broken for an input.
package struct BrokenPromise: Error, CustomStringConvertible {
    package let description: String
}

/// Throws ``BrokenPromise`` unless `holds`.
func promise(_ holds: Bool, _ what: @autoclosure () -> String) throws {
    guard holds else { throw BrokenPromise(description: what()) }
}
