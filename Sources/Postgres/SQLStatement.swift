/// A statement in a file, with named parameters.
///
/// A parameter is written `:name`, in lower case, and may occur more than once. Text in quotes and comments has no parameters.
package struct SQLStatement: Sendable {
    /// With `$1`, `$2` and so on in place of the names.
    package let text: String
    /// The names, in the order of their numbers.
    package let parameters: [String]

    /// - Parameters:
    ///   - file: The content of the file, UTF-8.
    ///   - parts: Text that several statements share, or a constant of the program. A statement names it like a parameter.
    package init(file: [UInt8], parts: [String: [UInt8]] = [:]) {
        var text: [UInt8] = []
        var names: [String] = []
        var rest = Self.withoutTopComment(file)
        while let byte = rest.first {
            if let skipped = Self.quotedOrComment(rest) {
                text += rest.prefix(skipped)
                rest = rest.dropFirst(skipped)
            } else if rest.starts(with: "::".utf8) {
                text += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else if byte == UInt8(ascii: ":"), let next = rest.dropFirst().first, Self.isOfName(next) {
                let name = String(decoding: rest.dropFirst().prefix(while: Self.isOfName), as: UTF8.self)
                rest = rest.dropFirst(1 + name.utf8.count)
                if let part = parts[name] {
                    rest = Self.withoutTopComment(part) + rest
                    continue
                }
                if !names.contains(name) { names.append(name) }
                text += Array("$\((names.firstIndex(of: name) ?? 0) + 1)".utf8)
            } else {
                text.append(byte)
                rest = rest.dropFirst()
            }
        }
        self.text = String(decoding: text, as: UTF8.self)
        parameters = names
    }

    /// The values in the order of their numbers.
    ///
    /// - Parameter values: One for each parameter, and no others; a wrong name is a programming error.
    /// - Returns: The cells.
    package func cells(_ values: KeyValuePairs<String, Cell>...) -> [Cell] { cells(of: values) }

    fileprivate func cells(of lists: [KeyValuePairs<String, Cell>]) -> [Cell] {
        let values = lists.flatMap { Array($0) }
        precondition(values.count == parameters.count, "\(parameters) need values, not \(values.map(\.key))")
        return parameters.map { name in
            guard let value = values.first(where: { $0.key == name })?.value else {
                preconditionFailure("the parameter \(name) has no value")
            }
            return value
        }
    }

    /// The comment at the top is for readers of the file; without it a session's activity shows the statement.
    private static func withoutTopComment(_ file: [UInt8]) -> ArraySlice<UInt8> {
        var rest = file[...]
        while rest.starts(with: "--".utf8) { rest = rest.drop { $0 != UInt8(ascii: "\n") }.dropFirst() }
        return rest
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "_")
    }

    /// The length of a quoted text or comment at the beginning of `rest`; `nil` where there is none.
    private static func quotedOrComment(_ rest: ArraySlice<UInt8>) -> Int? {
        let end: UInt8
        switch rest.first {
        case UInt8(ascii: "'"), UInt8(ascii: "\""): end = rest[rest.startIndex]
        case UInt8(ascii: "-") where rest.starts(with: "--".utf8): end = UInt8(ascii: "\n")
        default: return nil
        }
        guard let close = rest.dropFirst().firstIndex(of: end) else { return rest.count }
        return close - rest.startIndex + 1
    }
}

extension PostgresConnection {
    /// Runs a statement with named parameters.
    @discardableResult
    package borrowing func run(
        _ statement: SQLStatement,
        _ values: KeyValuePairs<String, Cell>...,
        answer: ValueFormat = .text
    ) throws(PostgresError) -> PostgresRows {
        try run(statement.text, statement.cells(of: values), answer: answer)
    }

    /// Runs a statement with named parameters like ``runOnce(_:_:)``.
    package borrowing func runOnce(
        _ statement: SQLStatement,
        _ values: KeyValuePairs<String, Cell>...
    ) throws(PostgresError) -> PostgresRows {
        try runOnce(statement.text, statement.cells(of: values))
    }
}
