package import Basics
import HTTPTransport

/// Where a bucket is, and with which credentials: the usual environment variables of S3 clients.
package struct BucketAccess: Sendable {
    package let url: BucketURL
    /// Scheme, host and port, and the path of the endpoint, without a slash at the end.
    let base: String
    /// Host and port of ``base``.
    let host: String
    let signature: HTTPRequest.Signature
    /// Of temporary credentials.
    let token: String?

    /// - Parameters:
    ///   - url: The bucket.
    ///   - environment: The variables of the process.
    /// - Throws: ``ObjectStorageError`` that names a missing or invalid variable.
    package init(_ url: BucketURL, environment: [String: String]) throws(ObjectStorageError) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let accessKey = value("AWS_ACCESS_KEY_ID"), let secretKey = value("AWS_SECRET_ACCESS_KEY") else {
            let missing = value("AWS_ACCESS_KEY_ID") == nil ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY"
            throw ObjectStorageError(
                .configuration,
                "\(url.text) needs credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment; \(missing) is missing"
            )
        }
        let endpoint = value("AWS_ENDPOINT_URL_S3")
        // Servers with an endpoint of their own usually have no regions, and take any name.
        guard let region = value("AWS_REGION") ?? (endpoint == nil ? nil : "us-east-1") else {
            throw ObjectStorageError(
                .configuration,
                "\(url.text) needs AWS_REGION, the region of the bucket, or AWS_ENDPOINT_URL_S3 for a server other than Amazon's"
            )
        }
        for (name, text) in [
            ("AWS_ACCESS_KEY_ID", accessKey), ("AWS_SECRET_ACCESS_KEY", secretKey), ("AWS_REGION", region),
            ("AWS_SESSION_TOKEN", value("AWS_SESSION_TOKEN") ?? ""),
        ] where !text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) {
            throw ObjectStorageError(
                .configuration,
                "\(name) has a space, a line break or another character that it cannot have"
            )
        }
        guard region.utf8.allSatisfy({ isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }) else {
            throw ObjectStorageError(.configuration, "AWS_REGION is not the name of a region, such as eu-central-1")
        }
        if let endpoint {
            let path = endpoint.hasSuffix("/") ? String(endpoint.dropLast()) : endpoint
            guard let match = path.wholeMatch(of: /https?:\/\/([^\/?#@]+)(\/[^?#]*)?/) else {
                throw ObjectStorageError(
                    .configuration,
                    "AWS_ENDPOINT_URL_S3 is not an endpoint: it must be a URL such as https://storage.example.com, without user, query and fragment"
                )
            }
            base = "\(path)/\(url.bucket)"
            host = String(match.1)
        } else {
            let server = "s3.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")"
            // Amazon's certificate has one name before the server's, so it does not fit a bucket with a dot.
            let hasDot = url.bucket.contains(".")
            host = hasDot ? server : "\(url.bucket).\(server)"
            base = hasDot ? "https://\(server)/\(url.bucket)" : "https://\(host)"
        }
        guard environment["SSLKEYLOGFILE"] == nil || base.hasPrefix("http:") else {
            throw ObjectStorageError(
                .configuration,
                "the environment variable SSLKEYLOGFILE is set, so libcurl would write the TLS secrets of the bucket's connections to that file; unset it"
            )
        }
        self.url = url
        signature = HTTPRequest.Signature(region: region, accessKey: accessKey, secretKey: secretKey)
        token = value("AWS_SESSION_TOKEN")
    }
}

private func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
    default: false
    }
}
