/// Substitutes environment variables in a text of the job file.
///
/// `${NAME}` is the variable, `${NAME:-text}` is the text if the variable is unset or empty, and `$${` is a literal
/// `${`. Every other `$` is literal. Substitution happens after parsing, so the value of a variable is never read as
/// YAML.
struct EnvironmentSubstitution {
    enum Failure: Error, Equatable {
        case unset(name: String)
        /// A `${` that starts neither `${NAME}` nor `${NAME:-text}`.
        case malformed
    }

    /// The text with all variables substituted.
    private(set) var text = ""
    /// The part of ``text`` that is written in the file: defaults are included, values of variables are not.
    private(set) var ownText = ""
    /// All variables that the text refers to.
    private(set) var variables: [String] = []

    init(_ template: String, environment: [String: String]) throws(Failure) {
        var rest = template[...]
        while let dollar = rest.firstIndex(of: "$") {
            append(rest[..<dollar])
            rest = rest[dollar...]
            if rest.hasPrefix("$${") {
                append("${")
                rest = rest.dropFirst(3)
            } else if rest.hasPrefix("${") {
                guard let end = rest.firstIndex(of: "}") else { throw .malformed }
                try substitute(rest[..<end].dropFirst(2), environment)
                rest = rest[rest.index(after: end)...]
            } else {
                append("$")
                rest = rest.dropFirst()
            }
        }
        append(rest)
    }

    private mutating func append(_ literal: some StringProtocol) {
        text += literal
        ownText += literal
    }

    private mutating func substitute(_ reference: Substring, _ environment: [String: String]) throws(Failure) {
        let name = String(reference.prefix { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) })
        let rest = reference.dropFirst(name.count)
        guard let first = name.first, !first.isNumber, rest.isEmpty || rest.hasPrefix(":-") else { throw .malformed }
        variables.append(name)
        let value = environment[name]
        guard rest.isEmpty else {
            if let value, !value.isEmpty {
                text += value
            } else {
                append(rest.dropFirst(2))
            }
            return
        }
        guard let value else { throw .unset(name: name) }
        text += value
    }
}
