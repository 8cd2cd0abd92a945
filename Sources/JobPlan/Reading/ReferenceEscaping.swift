/// Keeps YAML from seeing the braces of `${NAME}`.
///
/// `{url: ${DATABASE_URL}, schema: appstore}` is what an operator writes, but within braces YAML takes every further
/// brace for its own. So they pass the parser as stand-ins, one scalar for one scalar, and places stay right.
enum ReferenceShield {
    /// The last plane's private characters, which no font has and no job file needs.
    private static let offset: UInt32 = 0x10FF00
    private static let hiddenScalars = "{}[],".unicodeScalars
    private static let standIns = offset..<(offset + 0x80)

    /// `nil` when the text holds a stand-in already.
    static func hide(in text: String) -> String? {
        guard !text.unicodeScalars.contains(where: { standIns.contains($0.value) }) else { return nil }
        let reference = #/\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}"'\r\n]*)?\}/#.matchingSemantics(.unicodeScalar)
        return text.replacing(reference) { match in
            map(match.output.0) { hiddenScalars.contains($0) ? $0.value + offset : nil }
        }
    }

    static func reveal(in text: String) -> String {
        map(text) { standIns.contains($0.value) ? $0.value - offset : nil }
    }

    private static func map(_ text: some StringProtocol, _ value: (Unicode.Scalar) -> UInt32?) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            scalars.append(value(scalar).flatMap(Unicode.Scalar.init) ?? scalar)
        }
        return String(scalars)
    }
}
