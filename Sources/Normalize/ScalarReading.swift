import AppStoreModel
import Basics
import Postgres
import StrictJSON

/// The result of reading one value of a scalar field.
enum ScalarReading: Equatable {
    case asDocumented(Cell)
    /// Well-formed, but not a known value of an open set: kept and reported.
    case unknownValue(Cell, text: String)
    /// Not in the documented form, but converted to it: kept and reported.
    case converted(Cell, found: String)
    /// The column stays NULL.
    case unusable(found: String)
}

extension ScalarReading {
    /// The most bytes of text in a column.
    ///
    /// PostgreSQL cannot index more than about 2,700; Apple's texts are far shorter.
    static let textLimit = 2_048

    /// UNIX milliseconds, from Foundation's `Date.distantPast`, which Xcode writes for "never", to 2286.
    ///
    /// A number with 14 digits must be in another unit.
    static let plausibleMoments: ClosedRange<Int64> = -62_135_769_600_000...9_999_999_999_999

    /// The largest amounts, counts and percentages, above and below zero.
    ///
    /// The totals are sums and products of them and have 64 bits, so one absurd value would keep every view from being
    /// refreshed. Apple's highest price is 10,000 US dollars, which are less than a thousand million units of any currency.
    static let moneyLimit: Int64 = 1_000_000_000_000
    static let countLimit: Int32 = 1_000_000
    static let percentageLimit: Int32 = 100_000

    /// Reads a value of the given type.
    ///
    /// The caller handles `null`, which counts as an absent field.
    init(_ value: JSONElement, as type: FieldType) {
        self =
            switch type {
            case .text: Self.text(value)
            case .openText(let known): Self.openText(value, known: known)
            case .integer32: Self.integer(value)
            case .percentage: Self.integer(value, within: Self.percentageLimit, "a percentage in thousandths")
            case .count: Self.integer(value, within: Self.countLimit, "a count")
            case .openInteger(let known): Self.openInteger(value, known: known)
            case .integer64: Self.bigint(value)
            case .money: Self.money(value)
            case .boolean: value.bool.map { .asDocumented(.boolean($0)) } ?? .unusable(value, "true or false")
            case .moment: Self.moment(value)
            case .uuid: Self.uuid(value)
            case .textArray: Self.textArray(value)
            case .currency: Self.letters(value, "three upper-case letters, a currency of ISO 4217")
            case .storefront: Self.letters(value, "three upper-case letters, a country of ISO 3166-1")
            case .object, .objectArray, .signed: .unusable(value, "a scalar")
            }
    }

    private static func unusable(_ value: JSONElement, _ expected: String) -> Self {
        .unusable(found: "found \(ForeignText.description(of: value)); it must be \(expected)")
    }

    private static func text(_ value: JSONElement) -> Self {
        guard let text = value.string else { return unusable(value, "a string") }
        guard text.utf8.count <= textLimit else {
            return .unusable(found: "found \(text.utf8.count) bytes of text; it must be at most \(textLimit)")
        }
        return .asDocumented(.text(text))
    }

    private static func openText(_ value: JSONElement, known: Set<String>) -> Self {
        let reading = text(value)
        guard case .asDocumented(.text(let text)) = reading, !known.contains(text) else { return reading }
        return .unknownValue(.text(text), text: text)
    }

    private static func integer(_ value: JSONElement) -> Self {
        guard let integer = value.int64, let integer = Int32(exactly: integer) else {
            return unusable(value, "an integer of 32 bits")
        }
        return .asDocumented(.integer(integer))
    }

    private static func integer(_ value: JSONElement, within limit: Int32, _ expected: String) -> Self {
        guard case .asDocumented(.integer(let integer)) = integer(value), (-limit...limit).contains(integer) else {
            return unusable(value, "\(expected), an integer of at most \(limit)")
        }
        return .asDocumented(.integer(integer))
    }

    private static func openInteger(_ value: JSONElement, known: [Int32: String]) -> Self {
        let reading = integer(value)
        guard case .asDocumented(.integer(let integer)) = reading, known[integer] == nil else { return reading }
        return .unknownValue(.integer(integer), text: String(integer))
    }

    private static func bigint(_ value: JSONElement) -> Self {
        guard let integer = value.int64 else { return unusable(value, "an integer of 64 bits") }
        return .asDocumented(.bigint(integer))
    }

    private static func money(_ value: JSONElement) -> Self {
        guard let amount = value.int64, (-moneyLimit...moneyLimit).contains(amount) else {
            return unusable(value, "an amount in thousandths, an integer of at most \(moneyLimit)")
        }
        return .asDocumented(.bigint(amount))
    }

    private static func moment(_ value: JSONElement) -> Self {
        if let milliseconds = value.int64, plausibleMoments.contains(milliseconds) {
            return .asDocumented(.timestamp(milliseconds))
        }
        let expected = "a whole number of milliseconds since 1970, before the year 2286"
        guard let milliseconds = value.number?.flooredInt64, plausibleMoments.contains(milliseconds) else {
            return unusable(value, expected)
        }
        let found = "found \(ForeignText.description(of: value)), read as \(milliseconds); it must be \(expected)"
        return .converted(.timestamp(milliseconds), found: found)
    }

    private static func uuid(_ value: JSONElement) -> Self {
        guard let text = value.string else { return unusable(value, "a UUID as a string") }
        guard let bytes = UUIDText.bytes(of: text) else {
            // The value may identify a person, so the message does not quote it.
            return .unusable(found: "found a string of \(text.utf8.count) bytes; it must be a UUID")
        }
        return .asDocumented(.uuid(bytes))
    }

    private static func textArray(_ value: JSONElement) -> Self {
        guard let elements = value.array else { return unusable(value, "an array of strings") }
        let texts = elements.compactMap(\.string)
        guard texts.count == elements.count else {
            return .unusable(found: "found an array with something other than strings; it must be an array of strings")
        }
        return .asDocumented(.textArray(texts))
    }

    private static func letters(_ value: JSONElement, _ expected: String) -> Self {
        guard let text = value.string, text.utf8.count == 3,
            text.utf8.allSatisfy({ (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) })
        else { return unusable(value, expected) }
        return .asDocumented(.text(text))
    }
}
