/// A path that may end in one parameter, such as `/inApps/v2/history/{transactionId}`.
struct PathPattern: Sendable {
    /// The path up to the parameter; the whole path when there is none.
    let prefix: String
    /// The name between the braces.
    let parameter: String?

    init(_ text: String) {
        guard let brace = text.firstIndex(of: "{"), text.hasSuffix("}") else {
            prefix = text
            parameter = nil
            return
        }
        prefix = String(text[..<brace])
        parameter = String(text[text.index(after: brace)...].dropLast())
    }

    func matches(_ path: String) -> Bool {
        parameter == nil ? path == prefix : path.hasPrefix(prefix)
    }

    /// The parameter's value in a path that matches: the rest of the path, which can be empty or contain slashes.
    func value(in path: String) -> String? {
        parameter == nil ? nil : String(path.dropFirst(prefix.count))
    }
}
