/// A text of the job file with its environment variables put in.
///
/// `${NAME}` is the variable, `${NAME:-text}` the text when the variable is unset or empty, `$${` a literal `${`.
/// Every other `$` is literal. It happens after parsing, so a variable's value can never become YAML.
struct EnvironmentSubstitution {
    enum Failure: Error, Equatable {
        case unset(name: String)
        /// A `${` that neither form explains.
        case malformed
    }

    /// With every variable put in.
    private(set) var text = ""
    /// Only what stands in the file itself, defaults included.
    private(set) var ownText = ""
    /// Which variables gave something to the text or could have.
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
                try put(rest[..<end].dropFirst(2), environment)
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

    private mutating func put(_ reference: Substring, _ environment: [String: String]) throws(Failure) {
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
