import FoundationEssentials
import Hashing

/// Every encoding in which a customer's ID can appear in a file or in a dump of the database.
///
/// Text in either case; base64 in its three alignments, once (a JWS) and twice (a JWS inside a JWS); and each of these
/// in hexadecimal, which is how PostgreSQL prints bytes. A UUID also as its sixteen bytes.
package struct Needles: Sendable {
    /// The texts to look for and the IDs that they encode, by the first eight bytes of the text.
    private let words: [UInt64: [(text: [UInt8], id: String)]]
    /// Whether a text begins with eight bytes of this hash.
    ///
    /// Most places are ruled out by this lookup of one byte.
    private let isBeginning: [Bool]

    /// - Parameter ids: The IDs that nothing may contain, of at least eight characters each.
    package init(_ ids: some Sequence<String>) {
        var texts: [String: String] = [:]
        for id in ids {
            let plain = Set([id, id.uppercased(), id.lowercased()]).map { Array($0.utf8) }
            let once = plain.flatMap(Self.base64)
            let all = plain + once + once.flatMap(Self.base64)
            for bytes in all {
                texts[String(decoding: bytes, as: UTF8.self)] = id
                texts[Self.hexadecimal(bytes)] = id
            }
            let digits = id.lowercased().filter { $0 != "-" }
            if digits.count == 32, id.contains("-") { texts[digits] = id }
        }
        words = Dictionary(grouping: texts.map { (text: Array($0.key.utf8), id: $0.value) }) { word in
            word.text.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
        var isBeginning = [Bool](repeating: false, count: 1 << 16)
        for start in words.keys { isBeginning[Self.hash(start)] = true }
        self.isBeginning = isBeginning
    }

    private static func hash(_ start: UInt64) -> Int {
        Int(truncatingIfNeeded: (start &* 0x9E37_79B9_7F4A_7C15) >> 48)
    }

    /// The IDs that can be found in `hay`, in any spelling.
    package func ids(in hay: String) -> Set<String> {
        let hay = Array(hay.utf8)
        var found: Set<String> = []
        var start: UInt64 = 0
        for place in hay.indices {
            start = start << 8 | UInt64(hay[place])
            guard isBeginning[Self.hash(start)], let candidates = words[start] else { continue }
            for word in candidates where hay[(place - 7)...].starts(with: word.text) { found.insert(word.id) }
        }
        return found
    }

    /// The part of a base64 text that depends on `bytes` alone, for each of the three alignments.
    private static func base64(_ bytes: [UInt8]) -> [[UInt8]] {
        (0..<3).flatMap { shift -> [[UInt8]] in
            let text = Data([UInt8](repeating: 0, count: shift) + bytes).base64EncodedString()
            // Characters that also encode bits of the bytes before or after are left out.
            let first = (shift * 8 + 5) / 6
            let last = (shift + bytes.count) * 8 / 6
            let middle = Array(text.utf8)[first..<last]
            let url = String(decoding: middle, as: UTF8.self).replacing("+", with: "-").replacing("/", with: "_")
            return [Array(middle), Array(url.utf8)]
        }
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
