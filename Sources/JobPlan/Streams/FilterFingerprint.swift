package import AppStoreModel

extension JobFile {
    /// What shapes a stream's requests, as text: when it changes, cursors made with the old one are of no use.
    ///
    /// It does not depend on the order of keys and of list entries, nor on when the run takes place. Empty for a stream
    /// without filters, and for one that the job does not name.
    package func queryFingerprint(for stream: StreamName) -> String {
        (streams[stream]?.filters ?? [:])
            .compactMap { key, value in value.map { "\(key)=\($0)" } }
            .sorted()
            .joined(separator: "&")
    }
}

/// The text of a filter that is a list.
enum FilterFingerprint {
    /// `nil` for an empty list.
    static func list(_ values: [String]) -> String? {
        values.isEmpty ? nil : values.map(escaped).sorted().joined(separator: ",")
    }

    /// Keeps the separators of a fingerprint out of the values in it.
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
    /// One text for one meaning: `-1d` and `-24h` are the same.
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
