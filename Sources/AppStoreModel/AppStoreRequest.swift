/// One request of the App Store Server API, without host and token.
package struct AppStoreRequest: Equatable, Sendable {
    package enum Method: Sendable {
        case get
        case post
        case put
        case delete
    }

    /// A file whose bytes are the body.
    ///
    /// The sender reads the file just before it sends the request, and compares its hash.
    package struct BodyFile: Equatable, Sendable {
        /// As the input names it.
        package let name: String
        /// Hexadecimal.
        package let sha256: String

        package init(name: String, sha256: String) {
            self.name = name
            self.sha256 = sha256
        }
    }

    package let method: Method
    /// Path and query, percent-encoded, such as `/inApps/v2/history/2000000123456789?revision=r1`.
    package let target: String
    /// JSON, or the bytes of ``file``; `nil` for GET and DELETE, and for a POST without a body.
    package let body: [UInt8]?
    /// The PNG image that is the body; `nil` for JSON.
    package var file: BodyFile?

    package var contentType: String { file == nil ? "application/json" : "image/png" }

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

    /// A PUT request with a JSON body.
    ///
    /// - Parameters:
    ///   - path: Percent-encoded, with a leading slash.
    ///   - body: JSON.
    package static func put(_ path: String, body: [UInt8]) -> AppStoreRequest {
        AppStoreRequest(method: .put, target: path, body: body)
    }

    /// A PUT request whose body is a PNG image.
    ///
    /// - Parameters:
    ///   - path: Percent-encoded, with a leading slash.
    ///   - parameters: In the order in which they are sent; a parameter without a value is omitted.
    ///   - image: The file with the image.
    package static func put(_ path: String, _ parameters: QueryParameters, image: BodyFile) -> AppStoreRequest {
        AppStoreRequest(method: .put, target: path + parameters.queryString, body: nil, file: image)
    }

    /// A DELETE request.
    ///
    /// - Parameter path: Percent-encoded, with a leading slash.
    package static func delete(_ path: String) -> AppStoreRequest {
        AppStoreRequest(method: .delete, target: path, body: nil)
    }

    /// The same request with the bytes of its ``file``.
    package func with(body: [UInt8]) -> AppStoreRequest {
        AppStoreRequest(method: method, target: target, body: body, file: file)
    }
}
