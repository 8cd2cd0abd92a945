package import StrictJSON

/// One member of the body of an Advanced Commerce request, with Apple's rules for its value.
package struct AdvancedCommerceField: Sendable {
    /// The type of the value, and its rules.
    ///
    /// Apple documents lengths in characters and does not say how they are counted. UTF-16 units are counted, because no other
    /// count gives more.
    package indirect enum Kind: Sendable {
        /// Text of 1 to `longest` characters without control characters. `rule` is the name of the error for a longer one.
        case text(longest: Int, rule: String, invalid: AppleErrorCode?)
        /// One of Apple's words.
        case word([String], invalid: AppleErrorCode?)
        /// Three upper-case letters.
        case code(String, invalid: AppleErrorCode)
        case uuid(invalid: AppleErrorCode)
        case transactionID(invalid: AppleErrorCode)
        case boolean
        /// A whole number, for money in milliunits. `outside` is the error for a number out of the range.
        case integer(ClosedRange<Int64>, outside: AppleErrorCode)
        /// A list of texts, each with the rules of `kind`.
        case texts(of: Kind)
        case object(AdvancedCommerceObject)
        /// A list of at least one object.
        case objects(AdvancedCommerceObject)
    }

    /// Apple's name of the member.
    package let key: String
    package let kind: Kind
    /// Whether Apple requires the member.
    package let isRequired: Bool
    /// The error for a required member that is missing; `nil` where Apple documents none.
    package let missing: AppleErrorCode?

    /// An optional member.
    package init(_ key: String, _ kind: Kind) {
        self.key = key
        self.kind = kind
        isRequired = false
        missing = nil
    }

    /// A required member.
    package init(_ key: String, _ kind: Kind, missing: AppleErrorCode?) {
        self.key = key
        self.kind = kind
        isRequired = true
        self.missing = missing
    }
}

extension AdvancedCommerceField.Kind {
    /// Whether a value is written as JSON in a cell of a table.
    package var isJSON: Bool {
        switch self {
        case .texts, .object, .objects, .boolean, .integer: true
        case .text, .word, .code, .uuid, .transactionID: false
        }
    }

    /// The rule for values, as the rest of a sentence after "it must be".
    package var rule: String {
        switch self {
        case .text(let longest, _, _): "a text of 1 to \(longest) characters"
        case .word(let words, _): words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        case .code(let example, _): "three capital letters, such as \(example)"
        case .uuid: "a UUID, such as 7e3fb20b-4cdb-47cc-936d-99d65f608138"
        case .transactionID: "a transaction ID: one to twenty digits"
        case .boolean: "true or false"
        case .integer: "a whole number"
        case .texts: "a JSON list of texts"
        case .object(let object): "a JSON object with the members of \(object.name)"
        case .objects(let object): "a JSON list of objects with the members of \(object.name)"
        }
    }

    /// Checks a value, and brings it into the form in which it is sent.
    ///
    /// Members of objects get the order of the documentation, so that equal values are equal bytes.
    ///
    /// - Throws: The first rule that the value breaks.
    package func read(_ value: JSONValue, at path: String) throws(AdvancedCommerceProblem) -> JSONValue {
        switch self {
        case .text(let longest, let rule, let invalid):
            return .string(try text(value, at: path, longest: longest, rule: rule, invalid: invalid))
        case .word(let words, let invalid):
            let text = try string(value, at: path)
            guard words.contains(where: { $0.isByteEqual(to: text) }) else {
                throw problem(path, invalid, "is \(shown(text)); it must be \(words.joined(separator: ", "))")
            }
        case .code(let example, let invalid):
            let text = try string(value, at: path)
            guard text.utf8.count == 3, text.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else {
                throw problem(path, invalid, "is \(shown(text)); it must be three capital letters, such as \(example)")
            }
        case .uuid(let invalid):
            let text = try string(value, at: path)
            guard isUUID(text) else { throw problem(path, invalid, "is \(shown(text)); it must be a UUID") }
        case .transactionID(let invalid):
            let text = try string(value, at: path)
            guard TransactionID(text) != nil else {
                throw problem(path, invalid, "is \(shown(text)); it must be a transaction ID: one to twenty digits")
            }
        case .boolean:
            guard value.bool != nil else { throw wrongType(value, at: path, "true or false") }
        case .integer(let range, let outside):
            guard let number = value.number else { throw wrongType(value, at: path, "a whole number") }
            guard let integer = number.int64 else {
                throw wrongType(value, at: path, "a whole number without fraction and exponent")
            }
            guard range.contains(integer) else {
                let end = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
                throw problem(path, outside, "is \(integer); it must be \(range.lowerBound) \(end)")
            }
            return .number(JSONNumber(text: String(integer)))
        case .texts(let kind):
            guard let elements = value.array else { throw wrongType(value, at: path, "a list of texts") }
            var texts: [JSONValue] = []
            for (place, element) in elements.enumerated() {
                texts.append(try kind.read(element, at: "\(path)[\(place)]"))
            }
            return .array(texts)
        case .object(let object): return .object(try object.read(value, at: path))
        case .objects(let object):
            guard let elements = value.array else { throw wrongType(value, at: path, "a list of \(object.name)") }
            guard !elements.isEmpty else { throw problem(path, .atLeastOneItem, "is empty; it must have an item") }
            var objects: [JSONValue] = []
            for (place, element) in elements.enumerated() {
                objects.append(.object(try object.read(element, at: "\(path)[\(place)]")))
            }
            return .array(objects)
        }
        return value
    }

    private func text(
        _ value: JSONValue,
        at path: String,
        longest: Int,
        rule: String,
        invalid: AppleErrorCode?
    ) throws(AdvancedCommerceProblem) -> String {
        let text = try string(value, at: path)
        guard !text.isEmpty else { throw problem(path, invalid, "is empty") }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw problem(path, invalid, "has a control character")
        }
        guard text.utf16.count <= longest else {
            throw AdvancedCommerceProblem(
                path,
                rule,
                "has \(text.utf16.count) characters; Apple takes at most \(longest)"
            )
        }
        return text
    }

    private func string(_ value: JSONValue, at path: String) throws(AdvancedCommerceProblem) -> String {
        guard let text = value.string else { throw wrongType(value, at: path, "a text in quotes") }
        return text
    }

    private func problem(_ path: String, _ code: AppleErrorCode?, _ detail: String) -> AdvancedCommerceProblem {
        guard let code else { return AdvancedCommerceProblem(path, AdvancedCommerceProblem.wrongType, detail) }
        return AdvancedCommerceProblem(path, code, detail)
    }

    private func wrongType(_ value: JSONValue, at path: String, _ expected: String) -> AdvancedCommerceProblem {
        let detail = "is \(value.described); it must be \(expected)"
        return AdvancedCommerceProblem(path, AdvancedCommerceProblem.wrongType, detail)
    }

    /// The beginning of a text, in quotes.
    private func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(40).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : Character($0) }
        return "\"\(String(scalars))\""
    }

    private func isUUID(_ text: String) -> Bool {
        let digits = text.utf8.enumerated()
        return text.utf8.count == 36
            && digits.allSatisfy { place, byte in
                [8, 13, 18, 23].contains(place)
                    ? byte == UInt8(ascii: "-")
                    : (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
            }
    }
}

extension JSONValue {
    /// The type of a value, for messages; numbers with their text.
    fileprivate var described: String {
        switch self {
        case .null: "null"
        case .bool(let isTrue): "\(isTrue)"
        case .number(let number): "\(number.text.prefix(40))"
        case .string: "a text"
        case .array: "a list"
        case .object: "an object"
        }
    }
}
