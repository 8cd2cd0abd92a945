import StrictJSON

/// The JSON object in the body of a request that changes the world, read member by member.
struct RequestBody {
    private let object: JSONObject

    /// - `members`: The documented members. Any other member is refused, so that a misspelt one is noticed.
    ///
    /// Throws ``APIError/badRequest`` for a body that is not such an object.
    init(_ bytes: [UInt8], members: Set<String>) throws(APIError) {
        // Apple gives the same answer for every kind of invalid JSON.
        guard let object = try? StrictJSON.parseObject(bytes), object.members.allSatisfy({ members.contains($0.key) })
        else { throw .badRequest }
        self.object = object
    }

    func has(_ key: String) -> Bool { object[key] != nil }

    /// Throws `error` when the member is missing, not an integer, or outside the range.
    func integer(_ key: String, in range: ClosedRange<Int64>, or error: APIError) throws(APIError) -> Int64 {
        guard let value = object[key]?.number?.int64, range.contains(value) else { throw error }
        return value
    }

    /// Throws `error` when the member is missing or not a string.
    func text(_ key: String, or error: APIError) throws(APIError) -> String {
        guard let value = object[key]?.string else { throw error }
        return value
    }

    /// Throws `error` when the member is missing or not a Boolean.
    func flag(_ key: String, or error: APIError) throws(APIError) -> Bool {
        guard let value = object[key]?.bool else { throw error }
        return value
    }

    /// `nil` when the member is missing. Throws `error` when it is not an array of strings.
    func texts(_ key: String, or error: APIError) throws(APIError) -> [String]? {
        guard let value = object[key] else { return nil }
        guard let texts = value.array?.map(\.string), !texts.contains(nil) else { throw error }
        return texts.compactMap(\.self)
    }
}
