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
        /// Milliseconds since 1970, or ISO 8601 with a time zone. Normalised to milliseconds.
        case moment
        /// A decimal number above 0, of at most 128 characters.
        case rate
        /// An ISO 4217 code.
        case currency
        /// An ISO 3166-1 alpha-3 code.
        case country
        /// The lines of an external purchase report; no column of an input.
        case lineItems
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
        case .integer(let range) where range.upperBound == .max: "a whole number of at least \(range.lowerBound)"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .choice(let words): words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
        case .boolean: "true or false"
        case .transactionID: "a transaction ID: one to twenty digits"
        case .uuid: "a UUID, such as 7e3fb20b-4cdb-47cc-936d-99d65f608138"
        case .productID: "a product ID of 1 to 255 characters"
        case .countryCodes: "country codes of three letters, separated by spaces, such as USA FRA"
        case .moment:
            "milliseconds since 1970 (not seconds), or a date and time such as 2026-11-01T09:30:00Z"
        case .rate: "a decimal number above 0 of at most 128 characters, such as 1.0834"
        case .currency: "a currency code of three capital letters, such as EUR"
        case .country: "a country code of ISO 3166-1 alpha-3, such as FRA"
        case .lineItems: "a list of line items"
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
        switch kind {
        case .advancedCommerce: (try? read(json)) ?? ActionValue(json)
        case .bulletPoints: Self.bulletPoints(json)
        case .rate, .lineItems: .json(json)
        default: ActionValue(json)
        }
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
        case .moment: return milliseconds(text).map(ActionValue.integer)
        case .rate: return isRate(text) ? .json(.number(JSONNumber(text: text))) : nil
        case .currency: return isCode(text) ? .text(text) : nil
        case .country: return CountryCode.all.contains(text) ? .text(text) : nil
        case .lineItems: return nil
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

    /// The end of the year 9999.
    private static let lastMoment: Int64 = 253_402_300_799_999

    /// A moment in milliseconds since 1970.
    ///
    /// A number of less than twelve digits is before 1973, so it is a number of seconds.
    private func milliseconds(_ text: String) -> Int64? {
        if text.utf8.allSatisfy(isDigit) {
            return text.utf8.count < 12 ? nil : Int64(text).flatMap { $0 <= Self.lastMoment ? $0 : nil }
        }
        guard case .moment(let moment) = ISO8601Moment(text) else { return nil }
        return moment.rawValue
    }

    /// A number above 0 in the notation of JSON, without an exponent.
    private func isRate(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard text.utf8.count <= 128, parts.count <= 2, parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isDigit) })
        else { return false }
        let hasLeadingZero = parts[0].count > 1 && parts[0].first == UInt8(ascii: "0")
        return !hasLeadingZero && text.utf8.contains { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }
    }

    private func isCode(_ text: String) -> Bool {
        text.utf8.count == 3 && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }

    private static func bulletPoints(_ json: JSONValue) -> ActionValue? {
        RetentionBulletPoint.list(json).map { .json(.array($0.map(\.json))) }
    }
}
