/// A piece of a page: literals are markup, and interpolated text is escaped.
///
///     let cell: HTML = "<td>\(product)</td>"
///
/// Text becomes markup only here.
struct HTML: ExpressibleByStringInterpolation, Sendable {
    private(set) var text: String

    init(stringLiteral markup: String) { text = markup }

    init(stringInterpolation parts: StringInterpolation) { text = parts.text }

    private init(_ markup: String) { text = markup }

    /// Trusted markup that is not a literal.
    static func trusted(_ markup: String) -> HTML { HTML(markup) }

    static let empty: HTML = ""

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) {}

        mutating func appendLiteral(_ markup: String) { text += markup }

        mutating func appendInterpolation(_ words: String) { text += HTML.escaped(words) }

        mutating func appendInterpolation(_ number: Int) { text += String(number) }

        mutating func appendInterpolation(_ piece: HTML) { text += piece.text }

        mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { text += piece.text } }
    }

    private static func escaped(_ words: String) -> String {
        var text = ""
        for character in shown(words).unicodeScalars {
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}

/// Makes text safe to display: writes invisible characters and those that change its direction as escapes
/// such as `\u{202E}`.
///
/// - Parameter text: Text from outside, such as a product's name; it may contain any character.
/// - Returns: The text on one line.
func shown(_ text: String) -> String {
    var result = ""
    for character in text.unicodeScalars {
        switch character.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned, .surrogate:
            result += "\\u{\(String(character.value, radix: 16, uppercase: true))}"
        default:
            result.unicodeScalars.append(character)
        }
    }
    return result
}
