import Yams

/// Parses YAML into ``JobNode``s.
///
/// Refuses YAML features that a job file does not need.
///
/// This is the only type that uses Yams.
package struct YAMLDocument {
    /// Keeps recursion shallow; a job file needs four levels.
    private static let depthLimit = 16

    let text: String
    let environment: [String: String]
    let problems: Problems

    package init(text: String, environment: [String: String], problems: Problems) {
        self.text = text
        self.environment = environment
        self.problems = problems
    }

    /// Parses the text.
    ///
    /// - Parameter sections: The keys at the top of the document that are read; `nil` for all.
    /// - Returns: The root of the document; `nil` if there are problems, which are then reported.
    package func root(only sections: [String]? = nil) -> JobNode? {
        guard let yaml = ReferenceEscaping.escape(in: text) else {
            problems.report(.wholeFile, "has a private-use character", "save it as plain UTF-8 text")
            return nil
        }
        // A few aliases can expand to a billion values. The first pass therefore reads a copy without alias characters.
        // If that copy contains no anchor, no alias in the original text can be expanded.
        let withoutAliases = yaml.utf8.map { $0 == UInt8(ascii: "*") ? UInt8(ascii: "_") : $0 }
        guard let parsed = compose(String(decoding: withoutAliases, as: UTF8.self)),
            refuseProperties(in: parsed), let root = compose(yaml)
        else { return nil }
        guard let sections, case .mapping(let mapping) = root else { return node(root, keyPath: "") }
        let read = mapping.filter { sections.contains($0.key.scalar?.string ?? "") }.map { ($0.key, $0.value) }
        return node(.mapping(Node.Mapping(read, mapping.tag, mapping.style, mapping.mark)), keyPath: "")
    }

    private func compose(_ text: String) -> Node? {
        do {
            // The explicit encoding prevents Yams from reading it from an environment variable.
            guard let root = try Yams.compose(yaml: text, .basic, .default, .utf8) else {
                problems.report(.wholeFile, "holds no values", "it must hold at least version, name and app")
                return nil
            }
            return root
        } catch let error as YamlError {
            report(error)
        } catch {
            problems.report(.wholeFile, "cannot be read as YAML", "fix its syntax")
        }
        return nil
    }

    private func report(_ error: YamlError) {
        func report(_ mark: Mark, _ found: String, _ expected: String) {
            let place = Place(keyPath: "", line: mark.line, column: mark.column)
            problems.report(place, found, expected)
        }
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _):
            if Self.character(at: mark, in: lines) == "\t" {
                report(mark, "has a tab where YAML allows only spaces", "indent with spaces")
            } else if problem.contains("nesting level") {
                report(mark, "is nested too deeply", "a job file needs four levels")
            } else {
                report(mark, "is not valid YAML here (\(problem))", "fix it here or just above")
            }
        case .composer(_, _, let mark, _):
            // The other cause of this error, an alias, has already been refused.
            report(mark, "contains a second document", "write each job into its own file")
        case .duplicatedKeysInMapping(let keys, let context):
            let written = keys.first ?? ""
            let key = keys.isEmpty ? "a key" : shown(ReferenceEscaping.unescape(in: written))
            let lines = places(of: written, inMappingAt: context.mark)
            let first = lines.count > 1 ? ", first in line \(lines[0])" : ""
            let place = Place(
                keyPath: "",
                line: lines.count > 1 ? lines[1] : context.mark.line,
                column: context.mark.column
            )
            problems.report(place, "has the key \(key) twice in one mapping\(first)", "write it once")
        default:
            problems.report(.wholeFile, "has a character that YAML does not allow", "save it as plain UTF-8 text")
        }
    }

    /// The lines of a key in a mapping with one key a line, which all begin in the column of the first.
    ///
    /// - Returns: Fewer than two if the mapping is written in another form.
    private func places(of key: String, inMappingAt start: Mark) -> [Int] {
        let indent = start.column - 1
        var found: [Int] = []
        for (place, line) in lines.enumerated().dropFirst(start.line - 1) {
            let content = String(String.UnicodeScalarView(line))
            let depth = content.prefix { $0 == " " }.count
            let text = content.dropFirst(depth)
            if text.isEmpty || text.hasPrefix("#") { continue }
            // The first key can stand after the hyphen of a list.
            guard depth >= indent || place == start.line - 1 else { break }
            let own = place == start.line - 1 ? content.dropFirst(indent) : text
            guard depth == indent || place == start.line - 1 else { continue }
            if [key, "\"\(key)\"", "'\(key)'"].contains(where: { own.hasPrefix("\($0):") }) { found.append(place + 1) }
        }
        return found
    }

    /// Reports anchors, aliases, tags and too deep nesting.
    ///
    /// An unquoted scalar cannot begin with `&`, `*` or `!`, so the first character of a value decides.
    ///
    /// - Returns: Whether there are none.
    private func refuseProperties(in root: Node) -> Bool {
        let lines = lines
        var pending = [(node: root, keyPath: "", depth: 1)]
        var isClean = true
        while let (node, keyPath, depth) = pending.popLast() {
            let place = Place(keyPath: keyPath, line: node.mark?.line, column: node.mark?.column)
            guard depth <= Self.depthLimit else {
                problems.report(place, "is nested too deeply", "a job file needs four levels")
                return false
            }
            if let mark = node.mark, let first = Self.character(at: mark, in: lines),
                let name = ["&": "an anchor", "*": "an alias", "!": "a tag"][first]
            {
                problems.report(place, "has \(name)", "write the value out without it")
                isClean = false
            }
            switch node {
            case .mapping(let mapping):
                for (key, value) in mapping {
                    let path = place.path(to: shown(ReferenceEscaping.unescape(in: key.scalar?.string ?? "?")))
                    pending.append((key, path, depth + 1))
                    pending.append((value, path, depth + 1))
                }
            case .sequence(let sequence):
                for (index, value) in sequence.enumerated() {
                    pending.append((value, "\(keyPath)[\(index)]", depth + 1))
                }
            case .scalar, .alias: break
            }
        }
        return isClean
    }

    /// The lines of the file, as libyaml counts them.
    private var lines: [String.UnicodeScalarView.SubSequence] {
        text.replacing("\r\n", with: "\n").unicodeScalars.split(omittingEmptySubsequences: false) {
            Self.lineBreaks.contains($0)
        }
    }

    private static func character(
        at mark: Mark,
        in lines: [String.UnicodeScalarView.SubSequence]
    ) -> UnicodeScalar? {
        guard lines.indices.contains(mark.line - 1) else { return nil }
        return lines[mark.line - 1].dropFirst(mark.column - 1).first
    }

    /// The characters that libyaml counts as line breaks.
    private static let lineBreaks: Set<UnicodeScalar> = ["\r", "\n", "\u{85}", "\u{2028}", "\u{2029}"]

    private func node(_ node: Node, keyPath: String) -> JobNode {
        let place = Place(keyPath: keyPath, line: node.mark?.line, column: node.mark?.column)
        switch node {
        case .scalar(let scalar):
            return JobNode(place: place, content: content(of: scalar, at: place))
        case .sequence(let sequence):
            let items = sequence.enumerated().map { index, item in
                self.node(item, keyPath: "\(keyPath)[\(index)]")
            }
            return JobNode(place: place, content: .list(items))
        case .mapping(let mapping):
            return JobNode(place: place, content: .mapping(entries(of: mapping, at: place)))
        case .alias:
            return JobNode(place: place, content: .unusable)
        }
    }

    private func entries(of mapping: Node.Mapping, at place: Place) -> [JobNode.Entry] {
        mapping.compactMap { keyNode, valueNode in
            guard let key = keyNode.scalar.map({ ReferenceEscaping.unescape(in: $0.string) }) else {
                let here = Place(keyPath: place.keyPath, line: keyNode.mark?.line, column: keyNode.mark?.column)
                problems.report(here, "has a key that is not text", "write a plain word")
                return nil
            }
            let path = place.path(to: shown(key))
            return JobNode.Entry(
                key: key,
                place: Place(keyPath: path, line: keyNode.mark?.line, column: keyNode.mark?.column),
                value: node(valueNode, keyPath: path)
            )
        }
    }

    private func content(of scalar: Node.Scalar, at place: Place) -> JobNode.Content {
        let substituted: EnvironmentSubstitution
        do {
            substituted = try EnvironmentSubstitution(
                ReferenceEscaping.unescape(in: scalar.string),
                environment: environment
            )
        } catch {
            report(error, at: place)
            return .unusable
        }
        guard !refusePrivateKey(in: substituted, at: place) else { return .unusable }
        guard !substituted.text.unicodeScalars.contains("\0") else {
            problems.report(place, "holds a NUL character", "write text without it")
            return .unusable
        }
        return .scalar(
            JobScalar(
                text: substituted.text,
                ownText: substituted.ownText,
                variables: substituted.variables,
                isPlain: scalar.style == .plain || scalar.style == .any
            )
        )
    }

    private func report(_ failure: EnvironmentSubstitution.Failure, at place: Place) {
        switch failure {
        case .unset(let name):
            problems.report(
                place,
                "needs the environment variable \(name), which is not set",
                place.keyPath == "output.postgres.url"
                    ? "set it, for example: export \(name)=postgresql:///ledger"
                    : "set it, or write ${\(name):-text} with a default text"
            )
        case .malformed:
            problems.report(
                place,
                "has a ${ that names no variable",
                "write ${NAME} or ${NAME:-text}, or $${ for the two characters themselves"
            )
        }
    }

    /// What a text with a private key contains: the first line of PEM, and how the base64 of Apple's `.p8` files names P-256.
    ///
    /// The second finds a key that was pasted without its first line. Source: RFC 5208 and RFC 5480, in DER.
    private static let privateKeyMarks = ["-----BEGIN", "MBMGByqGSM49AgEG"]

    /// Reports a private key in the file, or in a variable of another key than `appStore.privateKey`.
    private func refusePrivateKey(in scalar: EnvironmentSubstitution, at place: Place) -> Bool {
        guard let mark = Self.privateKeyMarks.first(where: { scalar.text.contains($0) }) else { return false }
        let isInFile = scalar.ownText.contains(mark)
        if !isInFile, place.keyPath == "appStore.privateKey" { return false }
        problems.report(
            place,
            isInFile ? "contains a private key" : "takes a private key from an environment variable",
            "a key must be in its own file, which privateKeyFile names, or in the variable of appStore.privateKey",
            kind: isInFile ? .invalid : .configuration
        )
        return true
    }
}
