/// Parses bytes into ``JSONElement`` and ``JSONValue``.
///
/// All JSON input passes through this parser.
///
/// PostgreSQL, Foundation and other parsers treat duplicate names, U+0000, byte order marks and huge numbers
/// differently. This parser refuses them, so that a document means the same to all.
package enum StrictJSON {
    /// The most levels of arrays and objects.
    package static let depthLimit = 32
    /// The most bytes of one document, and so of a decoded answer from Apple.
    package static let sizeLimit = 4 * 1_024 * 1_024
    /// The most bytes of one number; an `Int64` has at most 20.
    package static let numberLimit = 128

    /// Reads one document: any JSON value with white space around it, in one pass over the bytes.
    package static func scan(
        _ bytes: [UInt8],
        depthLimit: Int = depthLimit,
        sizeLimit: Int = sizeLimit
    ) throws(StrictJSONError) -> JSONElement {
        guard bytes.count <= sizeLimit else { throw StrictJSONError(reason: .size, offset: sizeLimit) }
        let scanner = StrictJSONScanner(bytes, depthLimit: depthLimit)
        return try scanner.document().root
    }

    /// Reads one document into an independent tree.
    package static func parse(
        _ bytes: [UInt8],
        depthLimit: Int = depthLimit,
        sizeLimit: Int = sizeLimit
    ) throws(StrictJSONError) -> JSONValue {
        try scan(bytes, depthLimit: depthLimit, sizeLimit: sizeLimit).value
    }

    /// Reads one document that must be an object; another value is refused as ``StrictJSONError/Reason/json``.
    package static func scanObject(
        _ bytes: [UInt8],
        sizeLimit: Int = sizeLimit
    ) throws(StrictJSONError) -> JSONElement {
        let root = try scan(bytes, sizeLimit: sizeLimit)
        guard root.isObject else { throw StrictJSONError(reason: .json, offset: 0) }
        return root
    }

    /// Reads one document that must be an object into an independent tree.
    package static func parseObject(
        _ bytes: [UInt8],
        sizeLimit: Int = sizeLimit
    ) throws(StrictJSONError) -> JSONObject {
        guard let object = try scanObject(bytes, sizeLimit: sizeLimit).object
        else { throw StrictJSONError(reason: .json, offset: 0) }
        return object
    }
}
