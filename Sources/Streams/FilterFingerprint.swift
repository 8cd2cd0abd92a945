/// The text of a filter with several values.
enum FilterFingerprint {
    /// `nil` for an empty list.
    static func list(_ values: [String]) -> String? {
        values.isEmpty ? nil : values.map(escaped).sorted().joined(separator: ",")
    }

    /// Escapes the separators of a fingerprint.
    private static func escaped(_ value: String) -> String {
        value.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "%"), UInt8(ascii: ","), UInt8(ascii: "&"), UInt8(ascii: "="):
                "%" + String(byte, radix: 16)
            default: String(UnicodeScalar(byte))
            }
        }
        .joined()
    }
}
