/// Collects all problems of a job file while it is read, so that the user can fix them all at once.
package final class Problems {
    private var found: [(problem: JobFileError.Problem, kind: JobFileError.Kind)] = []

    /// Settings that are allowed but not advisable, with their places.
    package private(set) var warnings: [(place: Place, sentence: String)] = []

    package init() {}

    package var isEmpty: Bool { found.isEmpty }

    /// A file is read once for each of its apps, so each warning and problem counts once.
    package func warn(_ place: Place, _ sentence: String) {
        guard !warnings.contains(where: { $0 == (place, sentence) }) else { return }
        warnings.append((place, sentence))
    }

    package func report(_ place: Place, _ found: String, _ expected: String, kind: JobFileError.Kind = .invalid) {
        let problem = JobFileError.Problem(
            line: place.line,
            column: place.column,
            keyPath: place.keyPath.isEmpty ? "the job file" : place.keyPath,
            found: found,
            expected: expected
        )
        guard !self.found.contains(where: { $0.problem == problem }) else { return }
        self.found.append((problem, kind))
    }

    /// The error to throw, or `nil` if there are no problems.
    package func error(path: String) -> JobFileError? {
        guard let first = found.first else { return nil }
        // If there are several kinds, `invalid` decides the exit code.
        let kind = found.first { $0.kind == .invalid }?.kind ?? first.kind
        let problems = found.map(\.problem).enumerated().sorted { left, right in
            (left.element.line ?? 0, left.element.column ?? 0, left.offset)
                < (right.element.line ?? 0, right.element.column ?? 0, right.offset)
        }
        return JobFileError(path: path, kind: kind, problems: problems.map(\.element))
    }
}

/// A place in the job file.
package struct Place: Equatable {
    /// Such as `limits.share` or `transactionIds.list[2]`; empty for the whole file.
    package let keyPath: String
    let line: Int?
    let column: Int?

    package static let wholeFile = Place(keyPath: "", line: nil, column: nil)

    /// The place of a key that is missing here.
    package func missing(_ key: String) -> Place {
        Place(keyPath: path(to: key), line: line, column: column)
    }

    /// Line and column in the notation of compilers, such as `:12:10`.
    package var suffix: String {
        [line, column].compactMap { $0.map { ":\($0)" } }.joined()
    }

    func path(to key: String) -> String {
        keyPath.isEmpty ? key : "\(keyPath).\(key)"
    }
}
