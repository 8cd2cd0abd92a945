/// A path with parameters, such as `/inApps/v1/transactions/{originalTransactionId}/appAccountToken`.
struct PathPattern: Sendable {
    let text: String
    /// The path up to the first parameter; the whole path when there is none.
    let prefix: String
    /// What follows ``prefix``, between the slashes: parameters and fixed text.
    private let segments: [Segment]

    private enum Segment {
        case fixed(String)
        /// The name between the braces.
        case parameter(String)

        init(_ text: Substring) {
            self = text.hasPrefix("{") ? .parameter(String(text.dropFirst().dropLast())) : .fixed(String(text))
        }
    }

    init(_ text: String) {
        self.text = text
        let brace = text.firstIndex(of: "{") ?? text.endIndex
        prefix = String(text[..<brace])
        segments = text[brace...].split(separator: "/").map(Segment.init)
    }

    /// The values of the parameters in a path, by name; `nil` when the path does not match.
    ///
    /// A parameter at the end of the pattern takes the rest of the path, which can be empty or contain slashes.
    func values(in path: String) -> [String: String]? {
        guard !segments.isEmpty else { return path == prefix ? [:] : nil }
        guard path.hasPrefix(prefix) else { return nil }
        let parts = path.dropFirst(prefix.count)
            .split(separator: "/", maxSplits: segments.count - 1, omittingEmptySubsequences: false)
        guard parts.count == segments.count else { return nil }
        var values: [String: String] = [:]
        for (segment, part) in zip(segments, parts) {
            switch segment {
            case .fixed(let text): guard part == text else { return nil }
            case .parameter(let name): values[name] = String(part)
            }
        }
        return values
    }
}
