package import AppStoreModel

extension JobFile {
    /// The settings that determine a stream's requests, as text.
    ///
    /// When the text changes, old cursors become invalid.
    ///
    /// The text does not depend on the order of keys and list entries, or on the time of the run. It is empty for a
    /// stream without filters and for one that the job does not name.
    package func queryFingerprint(for stream: StreamName) -> String {
        (streams[stream]?.filters ?? [:])
            .compactMap { key, value in value.map { "\(key)=\($0)" } }
            .sorted()
            .joined(separator: "&")
    }
}

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

extension DateExpression {
    /// Equal for equal meanings: `-1d` and `-24h` give the same text.
    package var fingerprint: String {
        switch self {
        case .absolute(let moment): "\(moment.rawValue)"
        case .before(let duration): "-\(duration.components.seconds)s"
        case .now: "now"
        case .lastRun: "lastRun"
        }
    }

    /// Whether it means the same moment in every run.
    var isAbsolute: Bool {
        if case .absolute = self { return true }
        return false
    }
}
