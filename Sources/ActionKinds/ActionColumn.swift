package import AppStoreModel
import Basics
import JobSyntax
package import StrictJSON

/// One column of an action's input, and the rule for its values.
package struct ActionColumn: Sendable {
    /// Which values are valid, and how they are normalised.
    package enum Kind: Sendable {
        case integer(ClosedRange<Int64>)
        /// One of Apple's words.
        case choice([String])
        /// `true` or `false`, in any case.
        case boolean
        case transactionID
        /// Normalised to lower case. With `canBeEmpty`, `""` is a value too.
        case uuid
        /// A product ID: 1 to 255 characters without control characters.
        case productID
        /// ISO 3166-1 alpha-3 codes, separated by spaces. Normalised to upper case, sorted, each once.
        case countryCodes
        /// At least one character, at most this many as a reader counts them, without control characters.
        case text(Int)
        /// 64 hexadecimal digits, normalised to lower case.
        case sha256
        /// A short code of the App Store such as en-US or zh-Hans; case counts.
        case locale
        /// An absolute URL of at most this many characters.
        case httpsURL(Int)
        /// Up to five bullet points of a retention message, as JSON.
        case bulletPoints
        /// Words separated by spaces.
        case words
        /// A member of an Advanced Commerce request. Text is itself; a list or an object is JSON.
        case advancedCommerce(AdvancedCommerceField.Kind)
    }

    /// The rule that a value breaks, and the reason as a sentence.
    package struct Problem: Error, Equatable, Sendable {
        package let rule: String
        package let reason: String
    }

    /// The name in the header of the input: Apple's name of the field in snake_case.
    package let name: String
    package let kind: Kind
    /// Whether the header must have the column.
    package let isRequired: Bool
    /// Whether each row needs a value, from the column or from the job file.
    package let needsValue: Bool

    package init(_ name: String, _ kind: Kind, isRequired: Bool = false, needsValue: Bool = false) {
        self.name = name
        self.kind = kind
        self.isRequired = isRequired
        self.needsValue = isRequired || needsValue
    }

    /// The key of the job file with the default of the column: the name in camelCase.
    package var key: String {
        let words = name.split(separator: "_")
        return (words.prefix(1) + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }).joined()
    }

    /// The rule for values, as the rest of a sentence after "it must be".
    package var rule: String {
        switch kind {
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .choice(let words): words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        case .boolean: "true or false"
        case .transactionID: "a transaction ID: one to twenty digits"
        case .uuid: "a UUID, such as 7e3fb20b-4cdb-47cc-936d-99d65f608138"
        case .productID: "a product ID of 1 to 255 characters"
        case .countryCodes: "country codes of three letters, separated by spaces, such as USA FRA"
        case .text(let most): "1 to \(most) characters"
        case .sha256: "a SHA-256 of 64 hexadecimal digits"
        case .locale: "a short code of the App Store in its case, such as en-US or zh-Hans"
        case .httpsURL(let most): "a URL that begins with https://, at most \(most) characters"
        case .bulletPoints:
            "a JSON list of at most \(RetentionLimits.bulletPoints) objects with text (1 to \(RetentionLimits.bulletText) characters), imageIdentifier (a UUID) and altText (1 to \(RetentionLimits.altText) characters)"
        case .words: "words separated by spaces"
        case .advancedCommerce(let kind): kind.rule
        }
    }

    /// Normalises a value.
    ///
    /// - Parameter text: Without surrounding white space, not empty.
    /// - Throws: The rule that the value breaks: the name of the column, or of one of Apple's errors.
    package func read(_ text: String) throws(Problem) -> ActionValue {
        if case .advancedCommerce(let kind) = kind { return try read(text, as: kind) }
        guard let value = value(text) else {
            if case .text(let most) = kind, text.count > most {
                throw Problem(rule: name, reason: "\(name) has \(text.count) characters; it must be \(rule)")
            }
            throw Problem(rule: name, reason: "\(name) is \(printable(text)); it must be \(rule)")
        }
        return value
    }

    /// Normalises a value of a job file, which can be a list or an object in YAML.
    package func read(_ json: JSONValue) throws(Problem) -> ActionValue {
        guard case .advancedCommerce(let kind) = kind else {
            throw Problem(rule: name, reason: "\(name) must be \(rule)")
        }
        do throws(AdvancedCommerceProblem) {
            return ActionValue.of(try kind.read(json, at: name))
        } catch {
            throw Problem(rule: error.rule, reason: error.sentence)
        }
    }

    private func read(_ text: String, as kind: AdvancedCommerceField.Kind) throws(Problem) -> ActionValue {
        guard kind.isJSON else { return try read(.string(text)) }
        guard let json = try? StrictJSON.parse(Array(text.utf8)) else {
            throw Problem(rule: name, reason: "\(name) is \(printable(text)); it must be \(rule)")
        }
        return try read(json)
    }

    /// The value that ``ActionValue/json`` wrote; `nil` for another one.
    ///
    /// PostgreSQL changes the order of an object's members, so they are put back into the order in which they are sent.
    package func stored(_ json: JSONValue) -> ActionValue? {
        if case .advancedCommerce = kind, let value = try? read(json) { return value }
        if case .bulletPoints = kind { return Self.bulletPoints(json) }
        return ActionValue(json)
    }

    /// The beginning of a text; a control character becomes a question mark.
    private func printable(_ text: String) -> String {
        String(text.unicodeScalars.prefix(40).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : Character($0) })
    }

    /// Normalises a value.
    ///
    /// - Parameter text: Without surrounding white space, not empty.
    /// - Returns: `nil` if the value is not valid.
    package func value(_ text: String) -> ActionValue? {
        switch kind {
        case .integer(let range):
            guard text.utf8.allSatisfy({ isDigit($0) || $0 == UInt8(ascii: "-") }), let number = Int64(text),
                range.contains(number)
            else { return nil }
            return .integer(number)
        case .choice(let words): return words.contains(text) ? .text(text) : nil
        case .boolean:
            return ["true": true, "false": false][text.lowercased()].map(ActionValue.boolean)
        case .transactionID: return TransactionID(text).map { .text($0.text) }
        case .uuid: return UUIDText.bytes(ofAnyForm: text).map { .text(UUIDText.text(of: $0)) }
        case .productID:
            let isValid =
                (1...255).contains(text.count)
                && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
            return isValid ? .text(text) : nil
        case .countryCodes:
            let codes = Set(text.uppercased().split(separator: " ").map(String.init))
            let isValid = codes.allSatisfy { code in
                code.utf8.count == 3 && code.utf8.allSatisfy { (0x41...0x5A).contains($0) }
            }
            return isValid && !codes.isEmpty ? .texts(codes.sorted()) : nil
        case .text(let most):
            let isValid =
                (1...most).contains(text.count)
                && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
            return isValid ? .text(text) : nil
        case .sha256:
            let digits = text.lowercased()
            let isValid =
                digits.utf8.count == 64
                && digits.utf8.allSatisfy { isDigit($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0) }
            return isValid ? .text(digits) : nil
        case .locale: return text.wholeMatch(of: /[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?/) == nil ? nil : .text(text)
        case .httpsURL(let most):
            let isValid =
                text.count <= most && text.wholeMatch(of: /https:\/\/[^\/?#\s]+[^\s]*/) != nil
                && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
            return isValid ? .text(text) : nil
        case .bulletPoints: return (try? StrictJSON.parse(Array(text.utf8))).flatMap(Self.bulletPoints)
        case .words: return .texts(text.split(separator: " ").map(String.init))
        case .advancedCommerce: return try? read(text)
        }
    }

    private static func bulletPoints(_ json: JSONValue) -> ActionValue? {
        RetentionBulletPoint.list(json).map { .json(.array($0.map(\.json))) }
    }
}
