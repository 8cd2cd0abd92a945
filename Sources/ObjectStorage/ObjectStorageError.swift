package import Basics
import HTTPTransport

/// Why a bucket cannot be used.
///
/// It has the server's error code, and never the server's own text, which can quote the access key.
package struct ObjectStorageError: ExplainedError, Equatable {
    package let status: ExitStatus
    package let sentence: String
    /// Whether another attempt can succeed; then also ``ExitStatus/workLeft``.
    package var isTemporary: Bool { status == .workLeft }

    init(_ status: ExitStatus, _ sentence: String) {
        self.status = status
        self.sentence = sentence
    }

    /// The last of several attempts got no answer.
    init(_ fault: TransportFault, _ access: BucketAccess) {
        switch fault.reason {
        case .invalidRequest, .tls, .unavailable:
            self.init(
                .configuration,
                "\(access.url.text) cannot be reached at \(access.host): \(fault.detail) Check AWS_ENDPOINT_URL_S3 and AWS_REGION"
            )
        case .protocolError, .headersTooLarge, .bodyTooLarge:
            self.init(.configuration, Self.isNoS3(access, "\(fault.reason.rawValue)"))
        default:
            self.init(
                .workLeft,
                "\(access.url.text) cannot be reached at \(access.host) (\(fault.reason.rawValue)): \(fault.detail) Check the network and AWS_ENDPOINT_URL_S3. The ledger has everything; the next run publishes it"
            )
        }
    }

    /// - Parameters:
    ///   - response: An answer other than success.
    ///   - action: The right that the request needs, such as `s3:PutObject`.
    init(_ response: HTTPResponse, to action: String, _ access: BucketAccess) {
        let answer = S3Document(response.body)
        let code = response.errorCode
        let place = access.url.text
        let said = "HTTP status \(response.status)\(code.map { ", \($0)" } ?? "")"
        let region =
            (response.headers.values(of: "x-amz-bucket-region").first ?? answer.first("Region"))
            .flatMap { $0.wholeMatch(of: /[a-z0-9\-]{2,32}/) == nil ? nil : $0 }
        if let region, region != access.signature.region, [301, 307, 400, 403].contains(response.status) {
            self.init(
                .configuration,
                "\(place) is in the region \(region), not in \(access.signature.region): set AWS_REGION=\(region)"
            )
            return
        }
        switch (response.status, code) {
        case (_, "NoSuchBucket"):
            self.init(
                .configuration,
                "there is no bucket \(access.url.bucket) at \(access.host): create it, or correct the job file, AWS_ENDPOINT_URL_S3 or AWS_REGION"
            )
        case (_, "InvalidBucketName"):
            self.init(
                .badInput,
                "\(access.host) says that \(access.url.bucket) is not the name of a bucket: correct the job file"
            )
        case (_, "ExpiredToken"), (_, "TokenRefreshRequired"), (_, "ExpiredTokenException"):
            self.init(
                .refused,
                "\(place) refuses the credentials, which have expired: renew AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. The ledger has everything; the next run publishes it"
            )
        case (_, "RequestTimeTooSkewed"):
            self.init(
                .configuration,
                "\(place) refuses the request because this machine's clock differs from the server's: check NTP"
            )
        case (_, "InvalidAccessKeyId"), (_, "SignatureDoesNotMatch"), (_, "InvalidToken"), (_, "InvalidSecurity"),
            (401, _):
            self.init(
                .refused,
                "\(place) refuses the credentials (\(said)): check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN"
            )
        case (403, _):
            self.init(
                .refused,
                "\(place) refuses \(action) (\(said)): give the access key this right on the bucket, or correct the credentials"
            )
        case (301, _), (307, _), (_, "PermanentRedirect"), (_, "AuthorizationHeaderMalformed"),
            (_, "IllegalLocationConstraintException"):
            self.init(
                .configuration,
                "\(place) is in another region than \(access.signature.region) (\(said)): set AWS_REGION to the bucket's region"
            )
        case (429, _), (500..., _), (_, "SlowDown"), (_, "InternalError"), (_, "ServiceUnavailable"),
            (_, "RequestTimeout"):
            self.init(
                .workLeft,
                "\(place) does not work at present (\(said)). The ledger has everything; the next run publishes it"
            )
        case (_, nil):
            self.init(.configuration, Self.isNoS3(access, said))
        default:
            self.init(.ioError, "\(place) refuses \(action) (\(said))")
        }
    }

    /// An answer that S3 would not give.
    static func noS3(_ access: BucketAccess, _ found: String) -> ObjectStorageError {
        ObjectStorageError(.configuration, isNoS3(access, found))
    }

    private static func isNoS3(_ access: BucketAccess, _ found: String) -> String {
        "\(access.host) does not answer as S3 does (\(found)): check AWS_ENDPOINT_URL_S3, which must name the S3 endpoint"
    }
}

/// An answer of S3 in XML, of which single elements are read.
struct S3Document {
    let text: String

    init(_ body: [UInt8]) { text = String(decoding: body, as: UTF8.self) }

    /// The text of the first element with the name.
    func first(_ name: String) -> String? { all(name).first }

    /// The text of each element with the name, in order; nested elements stay as they are written.
    func all(_ name: String) -> [String] {
        var found: [String] = []
        var rest = text[...]
        while let start = rest.firstRange(of: "<\(name)>") {
            rest = rest[start.upperBound...]
            guard let end = rest.firstRange(of: "</\(name)>") else { break }
            found.append(Self.unescaped(rest[..<end.lowerBound]))
            rest = rest[end.upperBound...]
        }
        return found
    }

    private static func unescaped(_ text: Substring) -> String {
        guard text.contains("&"), !text.contains("<") else { return String(text) }
        var result = String(text)
        for (name, character) in [
            ("lt", "<"), ("gt", ">"), ("quot", "\""), ("apos", "'"), ("#34", "\""), ("#39", "'"), ("#x27", "'"),
            ("amp", "&"),
        ] {
            result.replace("&\(name);", with: character)
        }
        return result
    }
}

extension HTTPResponse {
    /// The code of an error document, such as `NoSuchBucket`; `nil` for another document.
    var errorCode: String? {
        let answer = S3Document(Array(body.prefix(65_536)))
        guard answer.text.contains("<Error>"), let code = answer.first("Code"),
            code.wholeMatch(of: /[A-Za-z0-9.]{1,64}/) != nil
        else { return nil }
        return code
    }
}
