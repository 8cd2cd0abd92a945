/// Escapes the braces of `${NAME}` before the YAML parser reads the text.
///
/// In a flow mapping such as `{url: ${DATABASE_URL}, schema: appstore}`, YAML would read the inner braces as its own
/// syntax. Each such character is replaced by one private-use character, so that lines and columns do not change.
enum ReferenceEscaping {
    /// Private-use characters of the last Unicode plane, which no job file needs.
    private static let offset: UInt32 = 0x10FF00
    private static let escapedScalars = "{}[],".unicodeScalars
    private static let replacements = offset..<(offset + 0x80)

    /// `nil` if the text already contains one of the private-use characters.
    static func escape(in text: String) -> String? {
        guard !text.unicodeScalars.contains(where: { replacements.contains($0.value) }) else { return nil }
        let reference = #/\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}"'\r\n]*)?\}/#.matchingSemantics(.unicodeScalar)
        return text.replacing(reference) { match in
            map(match.output.0) { escapedScalars.contains($0) ? $0.value + offset : nil }
        }
    }

    static func unescape(in text: String) -> String {
        map(text) { replacements.contains($0.value) ? $0.value - offset : nil }
    }

    private static func map(_ text: some StringProtocol, _ value: (Unicode.Scalar) -> UInt32?) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scalars.append(value(scalar).flatMap(Unicode.Scalar.init) ?? scalar)
        }
        return String(scalars)
    }
}
