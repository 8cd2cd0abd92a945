import Testing

/// Expects nothing, and shows a few of the things there are.
func expectNone(_ found: [String], _ comment: String = "", _ location: SourceLocation = #_sourceLocation) {
    let shown = found.prefix(5).map { $0.prefix(300) }.joined(separator: "\n")
    #expect(found.isEmpty, "\(comment) \(found.count) in all:\n\(shown)", sourceLocation: location)
}

/// Expects the same texts in both, in any order, and shows a few of those that only one of them has.
func expectSame(
    _ found: [String],
    _ expected: [String],
    _ comment: String = "",
    _ location: SourceLocation = #_sourceLocation
) {
    let missing = Set(expected).subtracting(found).sorted().map { "missing: \($0)" }
    let strange = Set(found).subtracting(expected).sorted().map { "not expected: \($0)" }
    expectNone(missing + strange, comment, location)
    #expect(found.count == expected.count, "\(comment)", sourceLocation: location)
}

extension Stage.Outcome {
    /// Expects the exit code, and shows what the command printed.
    func expect(_ code: Int32, _ location: SourceLocation = #_sourceLocation) {
        #expect(self.code == code, "\(errors)\(output)", sourceLocation: location)
    }
}
