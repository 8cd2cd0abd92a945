/// The only gate from bytes to ``JSONElement`` and ``JSONValue``.
///
/// PostgreSQL, Foundation and other readers disagree about duplicate names, U+0000, byte order marks and huge numbers.
/// What passes here means the same to all of them, because everything they disagree about is refused.
package enum StrictJSON {
    /// Levels of arrays and objects.
    package static let depthLimit = 32
    /// Bytes in one document: the greatest decoded body an answer of Apple's may have.
    package static let sizeLimit = 4 * 1_024 * 1_024
    /// Bytes in one number; an `Int64` has at most 20.
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

    /// Reads one document into a tree of its own.
    package static func parse(
        _ bytes: [UInt8],
        depthLimit: Int = depthLimit,
        sizeLimit: Int = sizeLimit
    ) throws(StrictJSONError) -> JSONValue {
        try scan(bytes, depthLimit: depthLimit, sizeLimit: sizeLimit).value
    }

    /// Reads one document that has to be an object; another value is refused as ``StrictJSONError/Reason/json``.
    package static func scanObject(_ bytes: [UInt8]) throws(StrictJSONError) -> JSONElement {
        let root = try scan(bytes)
        guard root.isObject else { throw StrictJSONError(reason: .json, offset: 0) }
        return root
    }

    /// Reads one document that has to be an object into a tree of its own.
    package static func parseObject(_ bytes: [UInt8]) throws(StrictJSONError) -> JSONObject {
        guard let object = try scanObject(bytes).object else { throw StrictJSONError(reason: .json, offset: 0) }
        return object
    }
}
