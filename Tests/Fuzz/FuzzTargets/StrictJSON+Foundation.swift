import AppStoreModel
import FoundationEssentials
import StrictJSON

/// Compares what ``StrictJSON`` accepts with Foundation's reader, which has another author.
///
/// - Throws: ``BrokenPromise`` where Foundation refuses it or reads something else.
func checkAgainstFoundation(_ value: JSONValue, _ bytes: [UInt8]) throws {
    // Foundation keeps one of two keys that are canonically equivalent, and reads some numbers in its own way.
    guard value.isPlain else { return }
    do {
        let read = try JSONDecoder().decode(DecodedJSON.self, from: Data(bytes))
        try promise(read.agrees(with: value), "Foundation reads another value")
    } catch let error as DecodingError {
        throw BrokenPromise(description: "accepted, but Foundation refuses it: \(error)")
    }
}

extension JSONValue {
    /// Whether Foundation can be expected to agree.
    fileprivate var isPlain: Bool {
        switch self {
        case .null, .bool, .string: true
        case .number(let number): number.int64 != nil
        case .array(let elements): elements.allSatisfy(\.isPlain)
        case .object(let object):
            Set(object.members.map(\.key)).count == object.members.count && object.members.allSatisfy(\.value.isPlain)
        }
    }
}

/// Any JSON, as Foundation decodes it.
private enum DecodedJSON: Decodable {
    case null
    case bool(Bool)
    case number(Int64)
    case string(String)
    case array([DecodedJSON])
    case object([String: DecodedJSON])

    init(from decoder: any Decoder) throws {
        if let object = try? [String: DecodedJSON](from: decoder) {
            self = .object(object)
        } else if let array = try? [DecodedJSON](from: decoder) {
            self = .array(array)
        } else {
            let value = try decoder.singleValueContainer()
            if value.decodeNil() {
                self = .null
            } else if let string = try? value.decode(String.self) {
                self = .string(string)
            } else if let bool = try? value.decode(Bool.self) {
                self = .bool(bool)
            } else {
                self = .number(try value.decode(Int64.self))
            }
        }
    }

    func agrees(with value: JSONValue) -> Bool {
        switch (self, value) {
        case (.null, .null): true
        case (.bool(let mine), .bool(let other)): mine == other
        case (.number(let mine), .number(let other)): mine == other.int64
        case (.string(let mine), .string(let other)): mine.isByteEqual(to: other)
        case (.array(let mine), .array(let other)):
            mine.count == other.count && zip(mine, other).allSatisfy { $0.agrees(with: $1) }
        case (.object(let mine), .object(let other)):
            mine.count == other.members.count
                && other.members.allSatisfy { member in
                    // Looked up as text and compared as bytes.
                    mine.contains { $0.key.isByteEqual(to: member.key) && $0.value.agrees(with: member.value) }
                }
        default: false
        }
    }
}
