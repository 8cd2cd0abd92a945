import Basics
package import StrictJSON

/// One mapping of the job file, read key by key.
///
/// Every function returns `nil` if the key is missing or its value is invalid. Invalid values are reported, and a file
/// with a reported problem never becomes a ``JobFile``.
package struct Section {
    package let place: Place
    package let problems: Problems
    /// For paths in the section.
    package let paths: JobPaths
    private let entries: [String: JobNode.Entry]

    /// Reports every key that is not one of `keys`.
    ///
    /// `nil` if the node is not a mapping, which is reported too, with `example` as a valid value.
    package init?(_ node: JobNode, keys: [String], problems: Problems, paths: JobPaths, example: String? = nil) {
        if case .unusable = node.content { return nil }
        guard case .mapping(let written) = node.content else {
            // The text can be a key or a connection string that belongs to one of the section's keys.
            let found = node.found(isSecret: true)
            problems.report(
                node.place,
                found,
                "it must be a mapping; \(example.map { "write \($0)" } ?? "write {} for one without keys")"
            )
            return nil
        }
        place = node.place
        self.problems = problems
        self.paths = paths
        entries = Dictionary(written.map { ($0.key, $0) }) { first, _ in first }
        for entry in written where !keys.contains(entry.key) {
            let advice = nearest(to: entry.key, among: keys).map { "did you mean \($0)?" }
            problems.report(entry.place, "is not a key", advice ?? "the keys here are \(keys.joined(separator: ", "))")
        }
    }

    /// The place of the key's value, or of the section if there is none.
    package func place(of key: String) -> Place {
        entries[key]?.value.place ?? place.missing(key)
    }

    /// Whether the key has a value, valid or not.
    package func has(_ key: String) -> Bool {
        entries[key].map { !$0.value.isLeftOut } ?? false
    }

    /// Whether the section has no key, known or not.
    package var isEmpty: Bool { entries.isEmpty }

    /// Whether the section has the key, with or without a value.
    package func names(_ key: String) -> Bool { entries[key] != nil }

    /// The scalar as it was written.
    package func scalar(_ key: String) -> JobScalar? {
        entries[key]?.value.scalar
    }

    package func section(
        _ key: String,
        keys: [String],
        required expected: String? = nil,
        example: String? = nil
    ) -> Section? {
        guard let node = node(key, required: expected) else { return nil }
        return Section(node, keys: keys, problems: problems, paths: paths, example: example)
    }

    /// The items of a list, each of which must be a mapping with `keys`; `expected` describes the list.
    package func sections(_ key: String, keys: [String], _ expected: String) -> [Section]? {
        guard let node = node(key, required: expected) else { return nil }
        guard case .list(let items) = node.content, !items.isEmpty else {
            if case .list = node.content {
                problems.report(node.place, "is empty", expected)
            } else {
                report(key, expected)
            }
            return nil
        }
        return items.compactMap { Section($0, keys: keys, problems: problems, paths: paths) }
    }

    /// The entries of a mapping whose keys are not known in advance, at least one; `expected` describes the mapping.
    package func entries(of key: String, _ expected: String) -> [JobNode.Entry]? {
        guard let node = node(key, required: nil) else { return nil }
        guard case .mapping(let entries) = node.content, !entries.isEmpty else {
            report(key, expected)
            return nil
        }
        return entries
    }

    /// A list or a mapping as JSON; `nil` for a scalar.
    ///
    /// A plain number, Boolean or null is one in JSON too.
    package func json(_ key: String) -> JSONValue? {
        guard let node = node(key, required: nil), node.scalar == nil else { return nil }
        return node.json
    }

    /// Reports the value of `key` as invalid, unless a part of it was reported already.
    package func report(_ key: String, _ expected: String) {
        if entries[key]?.value.hasUnusable == true { return }
        problems.report(place(of: key), entries[key]?.value.found() ?? "is missing", expected)
    }

    /// A text for which `accept` returns true; `expected` describes valid values, as a sentence after a semicolon.
    ///
    /// With `isSecret`, no message shows the value.
    package func text(
        _ key: String,
        _ expected: String,
        isRequired: Bool = false,
        isSecret: Bool = false,
        where accept: (String) -> Bool = { !$0.isEmpty }
    ) -> String? {
        guard let node = node(key, required: isRequired ? expected : nil) else { return nil }
        return text(node, expected, isSecret: isSecret, where: accept)
    }

    /// The path of a file or directory as it is written, as ``text(_:_:isRequired:isSecret:where:)``; a URL is reported.
    package func path(
        _ key: String,
        _ expected: String,
        isRequired: Bool = false,
        isSecret: Bool = false,
        where accept: (String) -> Bool = { !$0.isEmpty }
    ) -> String? {
        guard let text = text(key, expected, isRequired: isRequired, isSecret: isSecret, where: accept) else {
            return nil
        }
        guard let scheme = urlScheme(of: text) else { return text }
        problems.report(
            place(of: key),
            "is a URL (\(scheme)://)",
            "it must be a path on this machine; only output.csv.directory and output.parquet.directory can be in a bucket"
        )
        return nil
    }

    /// A list of texts for which `accept` returns true.
    ///
    /// Entries that consist only of empty variables are dropped. `canBeEmpty` allows a list without remaining entries.
    package func texts(
        _ key: String,
        _ expected: String,
        canBeEmpty: Bool = true,
        where accept: (String) -> Bool = { !$0.isEmpty }
    ) -> [String]? {
        guard let node = node(key, required: nil) else { return nil }
        guard case .list(let items) = node.content else {
            report(key, "it must be a list, such as [a, b]")
            return nil
        }
        let written = items.filter { !$0.isLeftOut }
        guard canBeEmpty || !written.isEmpty else {
            problems.report(node.place, "is empty", expected)
            return nil
        }
        return written.compactMap { text($0, expected, where: accept) }
    }

    /// One of a fixed set of words.
    package func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String,
        of type: Choice.Type,
        isRequired: Bool = false
    ) -> Choice? where Choice.RawValue == String {
        let expected = Self.expected(type)
        return text(key, expected, isRequired: isRequired) { Choice(rawValue: $0) != nil }.flatMap {
            Choice(rawValue: $0)
        }
    }

    package func choices<Choice: RawRepresentable & CaseIterable>(
        _ key: String,
        of type: Choice.Type
    ) -> [Choice]? where Choice.RawValue == String {
        texts(key, Self.expected(type)) { Choice(rawValue: $0) != nil }?.compactMap(Choice.init)
    }

    /// A list of whole numbers in `range`.
    package func integers(_ key: String, in range: ClosedRange<Int64>, _ expected: String) -> [Int64]? {
        guard let node = node(key, required: nil) else { return nil }
        guard case .list(let items) = node.content else {
            report(key, "it must be a list, such as [\(range.lowerBound), \(range.upperBound)]")
            return nil
        }
        return items.filter { !$0.isLeftOut }.compactMap { item in
            guard let number = item.scalar?.integer, range.contains(number) else {
                problems.report(item.place, item.found(), expected)
                return nil
            }
            return number
        }
    }

    package func flag(_ key: String) -> Bool? {
        value(key, "it must be true or false", isRequired: false) { $0.bool }
    }

    package func integer(
        _ key: String,
        in range: ClosedRange<Int64>,
        _ expected: String? = nil,
        isRequired: Bool = false
    ) -> Int64? {
        let usual = "it must be a whole number from \(range.lowerBound) to \(range.upperBound)"
        return value(key, expected ?? usual, isRequired: isRequired) { scalar in
            scalar.integer.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A number more than zero and at most `limit`.
    package func number(_ key: String, upTo limit: Int) -> Double? {
        value(key, "it must be more than 0 and at most \(limit)", isRequired: false) { scalar in
            scalar.number.flatMap { $0 > 0 && $0 <= Double(limit) ? $0 : nil }
        }
    }

    private func value<Value>(
        _ key: String,
        _ expected: String,
        isRequired: Bool,
        read: (JobScalar) -> Value?
    ) -> Value? {
        guard let node = node(key, required: isRequired ? expected : nil) else { return nil }
        guard let value = node.scalar.flatMap(read) else {
            report(key, expected)
            return nil
        }
        return value
    }

    private func text(
        _ node: JobNode,
        _ expected: String,
        isSecret: Bool = false,
        where accept: (String) -> Bool
    ) -> String? {
        if case .unusable = node.content { return nil }
        guard let scalar = node.scalar, let text = scalar.string, accept(text) else {
            let isUnquoted = node.scalar.map { !$0.isNull && $0.string == nil && accept($0.text) } ?? false
            let quoted = isSecret ? "" : ": \"\(node.scalar?.text ?? "")\""
            problems.report(
                node.place,
                node.found(isSecret: isSecret),
                isUnquoted ? "write it in quotes\(quoted)" : expected
            )
            return nil
        }
        return text
    }

    /// The value of `key`, or `nil` if it is missing or unusable.
    ///
    /// With `expected`, a missing value is reported.
    private func node(_ key: String, required expected: String?) -> JobNode? {
        guard let node = entries[key]?.value, !(node.isLeftOut && expected == nil) else {
            if let expected { problems.report(place.missing(key), "is missing", expected) }
            return nil
        }
        if case .unusable = node.content { return nil }
        return node
    }

    private static func expected<Choice: RawRepresentable & CaseIterable>(_ type: Choice.Type) -> String
    where Choice.RawValue == String {
        let words = type.allCases.map(\.rawValue)
        return "it must be \(words.dropLast().joined(separator: ", ")) or \(words.last ?? "")"
    }
}
