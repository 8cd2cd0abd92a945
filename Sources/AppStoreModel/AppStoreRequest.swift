/// One request of the App Store Server API, without host and token.
package struct AppStoreRequest: Equatable, Sendable {
    package enum Method: Sendable {
        case get
        case post
        case put
        case delete
    }

    package let method: Method
    /// Path and query, percent-encoded, such as `/inApps/v2/history/2000000123456789?revision=r1`.
    package let target: String
    /// JSON; `nil` for GET, and for a POST without a body.
    package let body: [UInt8]?

    /// A GET request; the same parameters always give the same text, because paging requires it.
    ///
    /// - Parameters:
    ///   - path: Percent-encoded, with a leading slash.
    ///   - parameters: In the order in which they are sent; a parameter without a value is omitted.
    package static func get(_ path: String, _ parameters: QueryParameters = []) -> AppStoreRequest {
        AppStoreRequest(method: .get, target: path + parameters.queryString, body: nil)
    }

    /// A POST request with a JSON body.
    ///
    /// - Parameters:
    ///   - path: Percent-encoded, with a leading slash.
    ///   - parameters: In the order in which they are sent; a parameter without a value is omitted.
    ///   - body: JSON.
    package static func post(_ path: String, _ parameters: QueryParameters = [], body: [UInt8]) -> AppStoreRequest {
        AppStoreRequest(method: .post, target: path + parameters.queryString, body: body)
    }

    /// A POST request without a body.
    ///
    /// - Parameter path: Percent-encoded, with a leading slash.
    package static func post(_ path: String) -> AppStoreRequest {
        AppStoreRequest(method: .post, target: path, body: nil)
    }

    /// A DELETE request.
    ///
    /// - Parameter path: Percent-encoded, with a leading slash.
    package static func delete(_ path: String) -> AppStoreRequest {
        AppStoreRequest(method: .delete, target: path, body: nil)
    }

    /// A PUT request with a JSON body.
    ///
    /// - Parameters:
    ///   - path: Percent-encoded, with a leading slash.
    ///   - body: JSON.
    package static func put(_ path: String, body: [UInt8]) -> AppStoreRequest {
        AppStoreRequest(method: .put, target: path, body: body)
    }
}
