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

    /// - `members`: The documented members. Any other member is refused.
    ///
    /// Throws `error` for another value than such an object.
    init(_ value: JSONValue, members: Set<String>, or error: APIError) throws(APIError) {
        guard let object = value.object, object.members.allSatisfy({ members.contains($0.key) }) else { throw error }
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

    /// Returns `nil` when the member is missing.
    ///
    /// Throws `error` when it is not an object with these members.
    func body(_ key: String, members: Set<String>, or error: APIError) throws(APIError) -> RequestBody? {
        guard let value = object[key] else { return nil }
        return try RequestBody(value, members: members, or: error)
    }

    /// Returns `nil` when the member is missing.
    ///
    /// Throws `error` when it is not an array of objects with these members.
    func bodies(_ key: String, members: Set<String>, or error: APIError) throws(APIError) -> [RequestBody]? {
        guard let value = object[key] else { return nil }
        guard let elements = value.array else { throw error }
        var bodies: [RequestBody] = []
        for element in elements { bodies.append(try RequestBody(element, members: members, or: error)) }
        return bodies
    }

    /// Returns `nil` when the member is missing.
    ///
    /// Throws `error` when it is not an array of strings.
    func texts(_ key: String, or error: APIError) throws(APIError) -> [String]? {
        guard let value = object[key] else { return nil }
        guard let texts = value.array?.map(\.string), !texts.contains(nil) else { throw error }
        return texts.compactMap(\.self)
    }
}
