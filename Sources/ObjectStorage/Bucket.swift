package import Basics
import HTTPTransport
import Hashing
import Platform

/// A bucket, or the part of it under a prefix.
///
/// Each function blocks its thread. It repeats a request after a failure that can pass, and throws ``ObjectStorageError``, or
/// `CancellationError` between two attempts.
package final class Bucket: Sendable {
    /// A file that is being uploaded; readers do not see it before ``complete(_:)``.
    package struct Upload: Sendable, Equatable {
        package let name: String
        /// Chosen by the server.
        package let id: String
        /// Distinguishes the uploads of a key after the object exists.
        fileprivate var mark = ""
        /// The tag of each part, in order.
        fileprivate var tags: [String] = []

        package static func == (one: Upload, other: Upload) -> Bool { one.name == other.name && one.id == other.id }
    }

    private let access: BucketAccess
    private let transport: CurlTransport

    package var url: BucketURL { access.url }

    /// The pauses between the attempts of a request, in milliseconds.
    private static let pauses: [UInt32] = [250, 500, 1_000, 2_000, 4_000, 8_000]

    package init(_ access: BucketAccess) throws(ObjectStorageError) {
        var configuration = TransportConfiguration()
        // A part of 8 MiB at 30 KiB a second. Completing an upload can take minutes on the server.
        configuration.totalTimeout = .seconds(300)
        configuration.lowSpeedTimeout = .seconds(120)
        configuration.maximumBodyBytes = 64 << 20
        // The transport allows it on loopback only.
        configuration.allowsPlainHTTP = true
        configuration.maximumConnections = 2
        self.access = access
        do throws(TransportFault) {
            transport = try CurlTransport(configuration)
        } catch {
            throw ObjectStorageError(error, access)
        }
    }

    /// Begins an upload.
    package func beginUpload(_ name: String) throws -> Upload {
        var uuids = RandomUUIDs()
        let mark = uuids.next().hexadecimal
        let headers = [HTTPHeader("x-amz-meta-storeledger-upload", mark)]
        let response = try send(.post, name, query: "uploads=", headers: headers, right: "s3:PutObject")
        guard let id = S3Document(response.body).first("UploadId"), !id.isEmpty else {
            throw ObjectStorageError.noS3(access, "it does not begin an upload")
        }
        return Upload(name: name, id: id, mark: mark)
    }

    /// Uploads the next part of a file.
    ///
    /// - Parameters:
    ///   - bytes: At least 5 MiB, except in the last part.
    ///   - upload: It gets the part's tag.
    /// - Returns: `false` if the upload was aborted elsewhere.
    package func add(_ bytes: [UInt8], to upload: inout Upload) throws -> Bool {
        let query = "partNumber=\(upload.tags.count + 1)&uploadId=\(Self.encoded(upload.id, slash: false))"
        let response = try send(
            .put,
            upload.name,
            query: query,
            body: bytes,
            accepts: "NoSuchUpload",
            right: "s3:PutObject"
        )
        guard response.status == 200 else { return false }
        guard let tag = response.headers.values(of: "ETag").first else {
            throw ObjectStorageError.noS3(access, "an uploaded part has no ETag")
        }
        upload.tags.append(tag)
        return true
    }

    /// Makes an uploaded file visible, in place of an object with its name.
    ///
    /// - Returns: `false` if the upload was aborted elsewhere.
    package func complete(_ upload: Upload) throws -> Bool {
        let parts = upload.tags.enumerated().map { "<Part><PartNumber>\($0 + 1)</PartNumber><ETag>\($1)</ETag></Part>" }
        let body = "<CompleteMultipartUpload>\(parts.joined())</CompleteMultipartUpload>"
        let response = try send(
            .post,
            upload.name,
            query: "uploadId=\(Self.encoded(upload.id, slash: false))",
            body: Array(body.utf8),
            accepts: "NoSuchUpload",
            right: "s3:PutObject"
        )
        guard response.status != 200 else { return true }
        // If the answer to an earlier attempt was lost, the object is there.
        let found = try send(.head, upload.name, accepts: "", right: "s3:GetObject")
        return found.headers.values(of: "x-amz-meta-storeledger-upload") == [upload.mark]
    }

    /// Ends an upload; does nothing if there is none.
    ///
    /// - Parameter isLastAttempt: Whether to give up after a failure that can pass.
    package func abort(_ upload: Upload, isLastAttempt: Bool = false) throws {
        let query = "uploadId=\(Self.encoded(upload.id, slash: false))"
        _ = try send(
            .delete,
            upload.name,
            query: query,
            accepts: "NoSuchUpload",
            right: "s3:AbortMultipartUpload",
            pauses: isLastAttempt ? [] : Self.pauses
        )
    }

    /// The uploads of a name, or of all names with a beginning, that are neither complete nor aborted.
    ///
    /// MinIO finds only the uploads of a whole name.
    package func uploads(of beginning: String) throws -> [Upload] {
        let query = "prefix=\(Self.encoded(key(beginning), slash: false))&uploads="
        let response = try send(.get, nil, query: query, right: "s3:ListBucketMultipartUploads")
        return S3Document(response.body).all("Upload").compactMap { text in
            let upload = S3Document(Array(text.utf8))
            guard let name = upload.first("Key").flatMap(name(ofKey:)), let id = upload.first("UploadId") else {
                return nil
            }
            return Upload(name: name, id: id)
        }
    }

    /// The names of all objects with a beginning.
    package func names(of beginning: String) throws -> [String] {
        var names: [String] = []
        var next: String?
        repeat {
            let continued = next.map { "continuation-token=\(Self.encoded($0, slash: false))&" } ?? ""
            let query = "\(continued)list-type=2&prefix=\(Self.encoded(key(beginning), slash: false))"
            let response = try send(.get, nil, query: query, right: "s3:ListBucket")
            let answer = S3Document(response.body)
            guard let isTruncated = answer.first("IsTruncated") else {
                throw ObjectStorageError.noS3(access, "its list of objects has no end")
            }
            names += answer.all("Key").compactMap(name(ofKey:))
            next = isTruncated == "true" ? answer.first("NextContinuationToken") : nil
        } while next != nil
        return names
    }

    /// The content of an object; `nil` if there is none.
    package func contents(of name: String) throws -> [UInt8]? {
        let response = try send(.get, name, accepts: "NoSuchKey", right: "s3:GetObject")
        return response.status == 200 ? response.body : nil
    }

    /// Removes an object; does nothing if there is none.
    package func remove(_ name: String) throws {
        _ = try send(.delete, name, accepts: "NoSuchKey", right: "s3:DeleteObject")
    }

    // MARK: Requests

    private func key(_ name: String) -> String { url.prefix.isEmpty ? name : "\(url.prefix)/\(name)" }

    /// The name of an object in this part of the bucket.
    private func name(ofKey key: String) -> String? {
        let beginning = url.prefix.isEmpty ? "" : url.prefix + "/"
        return key.hasPrefix(beginning) ? String(key.dropFirst(beginning.count)) : nil
    }

    /// Sends a request until it succeeds.
    ///
    /// - Parameters:
    ///   - name: The object; `nil` for the bucket.
    ///   - query: Sorted by name and percent-encoded, because libcurl before 8.5 signs it as it is.
    ///   - accepts: The error code that is returned and not thrown; empty for status 404.
    ///   - right: The right that the request needs, for messages.
    private func send(
        _ method: HTTPRequest.Method,
        _ name: String?,
        query: String = "",
        headers: [HTTPHeader] = [],
        body: [UInt8] = [],
        accepts: String? = nil,
        right: String,
        pauses: [UInt32] = pauses
    ) throws -> HTTPResponse {
        let path = "/" + (name.map { Self.encoded(key($0), slash: true) } ?? "")
        var request = HTTPRequest(
            method,
            access.base + path + (query.isEmpty ? "" : "?\(query)"),
            headers: headers + [
                // libcurl before 8.0 signs the host without its port unless the header is given.
                HTTPHeader("Host", access.host),
                HTTPHeader("x-amz-content-sha256", SHA256.digest(of: body).hexadecimal),
            ] + (access.token.map { [HTTPHeader("x-amz-security-token", $0)] } ?? []),
            body: method == .put || method == .post ? body : nil
        )
        if request.body != nil { request.headers.append(HTTPHeader("Content-Type", "application/octet-stream")) }
        request.signature = access.signature
        for pause in pauses.map(Optional.some) + [nil] {
            do {
                let response = try transport.sendAndWait(request)
                // Completing an upload can fail after the status 200 was sent.
                let code = response.errorCode
                if (200...299).contains(response.status), code == nil { return response }
                if let accepts, response.status == 404, accepts.isEmpty || code == accepts { return response }
                let error = ObjectStorageError(response, to: right, access)
                guard error.isTemporary, let pause else { throw error }
                try wait(pause, response.headers.values(of: "Retry-After").first)
            } catch let fault as TransportFault {
                let error = ObjectStorageError(fault, access)
                guard error.isTemporary, let pause else { throw error }
                request.departure.onNewConnection = true
                try wait(pause, nil)
            }
        }
        throw CancellationError()
    }

    private func wait(_ milliseconds: UInt32, _ retryAfter: String?) throws {
        let wanted = retryAfter.flatMap { UInt32($0) }.map { min($0, 30) * 1_000 } ?? 0
        var left = max(milliseconds, wanted)
        while left > 0, !Task.isCancelled {
            // A signal ends the wait within this time.
            let slice = min(left, 100)
            usleep(slice * 1_000)
            left -= slice
        }
        if Task.isCancelled { throw CancellationError() }
    }

    /// Percent-encodes as S3 does for signatures.
    static func encoded(_ text: String, slash isKept: Bool) -> String {
        text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                String(UnicodeScalar(byte))
            default:
                "-._~".utf8.contains(byte) || (isKept && byte == UInt8(ascii: "/"))
                    ? String(UnicodeScalar(byte)) : "%" + [byte].hexadecimal.uppercased()
            }
        }.joined()
    }
}
