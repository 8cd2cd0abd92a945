/// What both endpoints for renewal date extensions have in their bodies.
struct ExtensionTerms: Sendable, Equatable {
    let days: Int64
    let requestIdentifier: String

    static let members: Set = ["extendByDays", "extendReasonCode", "requestIdentifier"]

    /// Throws the error of the first member that is missing or not valid.
    init(_ body: RequestBody) throws(APIError) {
        days = try body.integer("extendByDays", in: 1...90, or: .extendByDays)
        // Apple answers 500 when it is missing, unlike for the other members.
        guard body.has("extendReasonCode") else { throw .internalError }
        _ = try body.integer("extendReasonCode", in: 0...3, or: .extendReasonCode)
        requestIdentifier = try body.text("requestIdentifier", or: .requestIdentifier)
        guard (1...Self.maximumLength).contains(requestIdentifier.count) else { throw .requestIdentifier }
    }

    /// Of a request identifier, in characters.
    private static let maximumLength = 128
}
