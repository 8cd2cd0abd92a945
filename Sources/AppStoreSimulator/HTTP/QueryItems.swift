import Basics

/// The parameters of a request's query, decoded like a form: an unencoded `+` is a space.
///
/// Base64 cursors contain `+`, so the cursor of a client that does not percent-encode it becomes invalid.
struct QueryItems: Sendable {
    private let items: [(name: String, value: String)]

    /// - Throws: ``APIError/badRequest`` for a broken percent sequence or bytes that are not UTF-8.
    init(_ query: String?) throws(APIError) {
        var items: [(name: String, value: String)] = []
        for part in (query ?? "").split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            items.append((try Self.decode(pair[0]), try Self.decode(pair.count > 1 ? pair[1] : "")))
        }
        self.items = items
    }

    subscript(name: String) -> String? {
        items.first { $0.name == name }?.value
    }

    func all(_ name: String) -> [String] {
        items.filter { $0.name == name }.map(\.value)
    }

    static func decode(_ text: Substring) throws(APIError) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"):
                bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(hexadecimalValue(ofDigit:)),
                    let low = rest.popFirst().flatMap(hexadecimalValue(ofDigit:))
                else { throw .badRequest }
                bytes.append(high << 4 | low)
            default:
                bytes.append(byte)
            }
        }
        guard let decoded = String(validating: bytes, as: UTF8.self) else { throw .badRequest }
        return decoded
    }
}
