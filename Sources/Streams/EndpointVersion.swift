import JobSyntax

/// The version of one of Apple's endpoints that a section requests, under the key `version`.
package enum EndpointVersion: Int64, Sendable {
    /// Deprecated by Apple.
    case one = 1
    /// The default.
    case two = 2

    static let key = "version"

    /// The version of a section; warns of version 1.
    ///
    /// - Parameters:
    ///   - section: The stream's section of the job file.
    ///   - endpoint: Apple's name of the endpoint.
    ///   - omissions: What version 1 leaves out, one phrase each.
    init(_ section: Section, of endpoint: String, omitting omissions: [String]) {
        let expected = "it must be 1 or 2"
        self = section.integer(Self.key, in: 1...2, expected).flatMap(Self.init(rawValue:)) ?? .two
        guard self == .one else { return }
        section.problems.warn(
            section.place(of: Self.key),
            "is 1: Apple has deprecated version 1 of \(endpoint), which omits \(omissions.joined(separator: ", "))"
        )
    }

    /// The version as a filter of a stream.
    ///
    /// A cursor of one version must not be sent to the other. The default is `nil`, so that a query without the key keeps
    /// the fingerprint that it had before the key existed.
    var filter: String? { self == .two ? nil : "\(rawValue)" }

    /// Whether a query with this fingerprint was sent to version 1.
    static func isOne(in query: String) -> Bool {
        query.split(separator: "&").contains { $0 == "\(key)=\(one.rawValue)" }
    }
}
