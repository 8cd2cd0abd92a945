package import StrictJSON

/// One member of the body of an Advanced Commerce request, with Apple's rules for its value.
///
/// A class, because a check of a value would otherwise copy its rules.
package final class AdvancedCommerceField: Sendable {
    /// The type of the value, and its rules.
    ///
    /// Apple documents lengths in characters and does not say how they are counted. UTF-16 units are counted, because no other
    /// count gives more.
    package enum Kind: Sendable {
        /// Text of 1 to `longest` characters without control characters. `rule` is the name of the error for a longer one.
        case text(longest: Int, rule: String, invalid: AppleErrorCode?)
        /// One of Apple's words.
        case word(KeyTable, invalid: AppleErrorCode?)
        /// Three upper-case letters.
        case code(String, invalid: AppleErrorCode)
        case uuid(invalid: AppleErrorCode)
        case transactionID(invalid: AppleErrorCode)
        case boolean
        /// A whole number, for money in milliunits. `outside` is the error for a number out of the range.
        case integer(ClosedRange<Int64>, outside: AppleErrorCode)
        /// A list of texts, each with the rules of `kind`.
        indirect case texts(of: Kind)
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

    /// Checks the value of the member, or that it may be missing.
    ///
    /// - Throws: The first rule that the value breaks; the path is that in the object.
    func check(_ value: JSONElement?, _ unknown: inout UnknownMembers?) throws(AdvancedCommerceProblem) {
        guard let value, !value.isNull else {
            guard isRequired || value != nil else { return }
            throw absence(isNull: value != nil)
        }
        do throws(AdvancedCommerceProblem) {
            try kind.check(value, &unknown)
        } catch {
            throw error.inside(".\(key)")
        }
    }

    private func absence(isNull: Bool) -> AdvancedCommerceProblem {
        let detail = isNull ? (isRequired ? "is null" : "is null; leave it out") : "is missing"
        guard let missing else { return AdvancedCommerceProblem(".\(key)", "missing_field", detail) }
        return AdvancedCommerceProblem(".\(key)", missing, detail)
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
        case .word(let words, _): words.keys.dropLast().joined(separator: ", ") + " or " + (words.keys.last ?? "")
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
    /// - Parameters:
    ///   - value: JSON.
    ///   - name: The name of the value, for messages.
    /// - Returns: The value in the form in which it is sent.
    /// - Throws: The first rule that the value breaks.
    package func read(_ value: JSONValue, at name: String) throws(AdvancedCommerceProblem) -> JSONValue {
        let element = JSONElement(value)
        var unknown: UnknownMembers?
        do throws(AdvancedCommerceProblem) {
            try check(element, &unknown)
        } catch {
            throw error.inside(name)
        }
        return sent(element)
    }

    /// Checks a value.
    ///
    /// - Parameter unknown: As in ``AdvancedCommerceObject/check(_:_:)``.
    /// - Throws: The first rule that the value breaks; the path is empty, or leads to a value inside this one.
    func check(_ value: JSONElement, _ unknown: inout UnknownMembers?) throws(AdvancedCommerceProblem) {
        switch self {
        case .text(let longest, let rule, let invalid):
            try check(value) { (text) throws(AdvancedCommerceProblem) in
                guard text.count > 0 else { throw problem(invalid, "is empty") }
                guard !TextRule.holdsControlCharacter(text) else { throw problem(invalid, "has a control character") }
                // The UTF-8 of a text never has fewer bytes than its UTF-16 has units.
                guard text.count > longest, let count = value.string?.utf16.count, count > longest else { return }
                throw AdvancedCommerceProblem("", rule, "has \(count) characters; Apple takes at most \(longest)")
            }
        case .word(let words, let invalid):
            guard value.place(in: words) == nil else { return }
            throw wrong(value, invalid, words.keys.joined(separator: ", "))
        case .code(let example, let invalid):
            guard value.withText(TextRule.isCode) != true else { return }
            throw wrong(value, invalid, "three capital letters, such as \(example)")
        case .uuid(let invalid):
            guard value.withText(TextRule.isUUID) != true else { return }
            throw wrong(value, invalid, "a UUID")
        case .transactionID(let invalid):
            guard value.withText(TransactionID.isValid) != true else { return }
            throw wrong(value, invalid, "a transaction ID: one to twenty digits")
        case .boolean:
            guard value.bool != nil else { throw wrongType(value, "true or false") }
        case .integer(let range, let outside):
            guard let integer = value.int64 else {
                let form = value.number == nil ? "" : " without fraction and exponent"
                throw wrongType(value, "a whole number\(form)")
            }
            guard range.contains(integer) else {
                let end = range.upperBound == .max ? "or more" : "to \(range.upperBound)"
                throw problem(outside, "is \(integer); it must be \(range.lowerBound) \(end)")
            }
        case .texts(let kind):
            guard value.isArray else { throw wrongType(value, "a list of texts") }
            try check(value.elements) { (element) throws(AdvancedCommerceProblem) in try kind.check(element, &unknown) }
        case .object(let object): try object.check(value, &unknown)
        case .objects(let object):
            guard value.isArray else { throw wrongType(value, "a list of \(object.name)") }
            guard !value.isEmpty else { throw problem(.atLeastOneItem, "is empty; it must have an item") }
            try check(value.elements) { (item) throws(AdvancedCommerceProblem) in try object.check(item, &unknown) }
        }
    }

    private func check(
        _ elements: JSONElement.Elements,
        by check: (JSONElement) throws(AdvancedCommerceProblem) -> Void
    ) throws(AdvancedCommerceProblem) {
        var place = 0
        for element in elements {
            do throws(AdvancedCommerceProblem) {
                try check(element)
            } catch {
                throw error.inside("[\(place)]")
            }
            place += 1
        }
    }

    private func check(
        _ value: JSONElement,
        by check: (Span<UInt8>) throws(AdvancedCommerceProblem) -> Void
    ) throws(AdvancedCommerceProblem) {
        guard try value.withText(check) != nil else { throw wrongType(value, "a text in quotes") }
    }

    /// A valid value in the form in which it is sent.
    func sent(_ value: JSONElement) -> JSONValue {
        switch self {
        case .text, .word, .code, .uuid, .transactionID, .boolean, .texts: value.value
        case .integer: .number(JSONNumber(text: String(value.int64 ?? 0)))
        case .object(let object): .object(object.sent(value))
        case .objects(let object): .array(value.elements.map { .object(object.sent($0)) })
        }
    }

    /// The problem of a text that is not what it must be, or of a value that is no text.
    private func wrong(_ value: JSONElement, _ invalid: AppleErrorCode?, _ rule: String) -> AdvancedCommerceProblem {
        guard let text = value.string else { return wrongType(value, "a text in quotes") }
        return problem(invalid, "is \(shown(text)); it must be \(rule)")
    }

    private func problem(_ code: AppleErrorCode?, _ detail: String) -> AdvancedCommerceProblem {
        guard let code else { return AdvancedCommerceProblem("", AdvancedCommerceProblem.wrongType, detail) }
        return AdvancedCommerceProblem("", code, detail)
    }

    private func wrongType(_ value: JSONElement, _ expected: String) -> AdvancedCommerceProblem {
        let detail = "is \(value.described); it must be \(expected)"
        return AdvancedCommerceProblem("", AdvancedCommerceProblem.wrongType, detail)
    }

    /// The beginning of a text, in quotes.
    private func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(40).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : Character($0) }
        return "\"\(String(scalars))\""
    }
}

extension JSONElement {
    /// The type of a value, for messages; numbers with their text.
    fileprivate var described: String {
        if let bool { return "\(bool)" }
        if let number { return "\(number.text.prefix(40))" }
        return isNull ? "null" : isArray ? "a list" : isObject ? "an object" : "a text"
    }
}
