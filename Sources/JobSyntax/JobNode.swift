import Basics
import StrictJSON

/// A value of the job file with its place, after substitution of variables.
package struct JobNode {
    enum Content {
        case scalar(JobScalar)
        case list([JobNode])
        /// Keys in the order of the file, each once.
        case mapping([Entry])
        /// The value is invalid, and the problem has been reported.
        case unusable
    }

    package struct Entry {
        package let key: String
        /// The place of the key.
        package let place: Place
        package let value: JobNode

        package init(key: String, place: Place, value: JobNode) {
            self.key = key
            self.place = place
            self.value = value
        }
    }

    package let place: Place
    let content: Content

    /// Whether the value or a part of it is invalid, which has been reported.
    var hasUnusable: Bool {
        switch content {
        case .scalar: false
        case .list(let nodes): nodes.contains(where: \.hasUnusable)
        case .mapping(let entries): entries.contains { $0.value.hasUnusable }
        case .unusable: true
        }
    }

    /// The value of a key; `nil` without it, and for a value that is not a mapping.
    package subscript(key: String) -> JobNode? { entry(key)?.value }

    /// The entry of a key; `nil` without it, and for a value that is not a mapping.
    package func entry(_ key: String) -> Entry? {
        guard case .mapping(let entries) = content else { return nil }
        return entries.first { $0.key == key }
    }

    /// The items of a list; `nil` for another value.
    package var items: [JobNode]? {
        guard case .list(let items) = content else { return nil }
        return items
    }

    /// A copy of a mapping without `keys` and with `new` entries; another value stays as it is.
    package func replacing(_ keys: [String], with new: [Entry]) -> JobNode {
        guard case .mapping(let entries) = content else { return self }
        let keys = keys + new.map(\.key)
        return JobNode(place: place, content: .mapping(entries.filter { !keys.contains($0.key) } + new))
    }

    package var scalar: JobScalar? {
        guard case .scalar(let scalar) = content else { return nil }
        return scalar
    }

    /// Whether the value consists only of empty variables, so that it counts as missing.
    var isLeftOut: Bool {
        guard let scalar else { return false }
        return scalar.text.isEmpty && !scalar.variables.isEmpty
    }

    /// The value as JSON; `nil` for one that is unusable.
    var json: JSONValue? {
        switch content {
        case .scalar(let scalar): scalar.json
        case .list(let nodes):
            nodes.contains { $0.json == nil } ? nil : .array(nodes.compactMap(\.json))
        case .mapping(let entries):
            entries.contains { $0.value.json == nil }
                ? nil
                : .object(
                    JSONObject(
                        entries.compactMap { entry in
                            entry.value.json.map { JSONObject.Member(key: entry.key, value: $0) }
                        }
                    )
                )
        case .unusable: nil
        }
    }

    /// Describes the value.
    ///
    /// - Parameter isSecret: Whether a secret can be written here, so that no text or number is shown.
    /// - Returns: The rest of a sentence.
    package func found(isSecret: Bool = false) -> String {
        switch content {
        case .scalar(let scalar): scalar.found(isSecret: isSecret)
        case .list: "is a list"
        case .mapping: "is a mapping"
        case .unusable: "is unusable"
        }
    }
}

/// A scalar: its text, and how it was written.
package struct JobScalar {
    package let text: String
    /// The part of the text that is written in the file, without the values of environment variables.
    package let ownText: String
    /// The environment variables in it.
    package let variables: [String]
    /// Whether it has no quotes and is not a block, so that it can be a number, a Boolean or null.
    let isPlain: Bool

    private var isPlainWithoutVariables: Bool { isPlain && variables.isEmpty }

    var isNull: Bool { isPlainWithoutVariables && ["", "~", "null", "Null", "NULL"].contains(text) }

    var integer: Int64? {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        // YAML 1.1 would read 010 as eight.
        guard isPlain, digits.utf8.allSatisfy(isDigit), digits == "0" || !digits.hasPrefix("0")
        else { return nil }
        return Int64(text)
    }

    /// A finite number in decimal notation.
    package var number: Double? {
        let isDecimal = text.utf8.allSatisfy { byte in
            isDigit(byte) || "+-.eE".utf8.contains(byte)
        }
        guard isPlain, isDecimal, let value = Double(text), value.isFinite else { return nil }
        return value
    }

    package var bool: Bool? { isPlain ? Bool(text) : nil }

    /// The text, unless it is a number, a Boolean or null.
    ///
    /// The value of a variable is always text, because a key ID can consist of digits only.
    package var string: String? {
        guard isPlainWithoutVariables else { return text }
        return isNull || number != nil || bool != nil ? nil : text
    }

    /// A number with fraction keeps its text, so that a rule for whole numbers can refuse it.
    var json: JSONValue {
        if isNull { return .null }
        if let bool { return .bool(bool) }
        return number == nil ? .string(text) : .number(JSONNumber(text: integer.map(String.init) ?? text))
    }

    /// Describes the scalar, without values of variables, private keys and passwords of URLs.
    ///
    /// - Parameter isSecret: Whether the text can be a secret, so that it is not shown.
    /// - Returns: The rest of a sentence.
    func found(isSecret: Bool) -> String {
        if isNull { return "is null" }
        if !variables.isEmpty {
            let names = variables.map { "${\($0)}" }.joined(separator: " and ")
            return text.isEmpty ? "is empty, because \(names) is" : "is the value of \(names)"
        }
        if isSecret, !text.isEmpty {
            return isPlain && number != nil ? "is a number (not shown)" : "is a text (not shown)"
        }
        if !isPlain { return "is the text \(shown(text, quoted: true))" }
        return number == nil ? "is \(shown(text))" : "is the number \(shown(text))"
    }
}

/// The text as shown in messages: one line, at most 60 characters, without user name and password of a URL.
///
/// A user name with a password before an `@` counts as a URL without its scheme.
func shown(_ text: some StringProtocol, quoted: Bool = false) -> String {
    var text = String(text)
    if let at = text.lastIndex(of: "@") {
        let scheme = text[..<at].firstRange(of: "://")
        if scheme != nil || text[..<at].contains(":") {
            text.replaceSubrange((scheme?.upperBound ?? text.startIndex)..<at, with: "…")
        }
    }
    return printable(text, limit: 60, quoted: quoted)
}
