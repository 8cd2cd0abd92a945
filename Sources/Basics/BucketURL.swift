/// `s3://bucket/prefix`: a place in object storage.
package struct BucketURL: Equatable, Sendable {
    package let bucket: String
    /// Without slashes at its ends; empty for the whole bucket.
    package let prefix: String

    /// What a URL must be, for messages.
    package static let rule = """
        it must be a directory, or s3://BUCKET/PREFIX with a bucket name of 3 to 63 of a-z, 0-9, - and ., and a prefix \
        without //, . and .. as names, spaces and any of ?#%&*[]"<>^`|\\; S3, and the S3 interfaces of Google Cloud Storage, R2 \
        and MinIO have such URLs
        """

    /// `nil` if the text is not such a URL.
    package init?(_ text: String) {
        guard text.hasPrefix("s3://") else { return nil }
        let rest = text.dropFirst("s3://".count)
        bucket = String(rest.prefix { $0 != "/" })
        let path = rest.dropFirst(bucket.count + 1)
        prefix = String(path.hasSuffix("/") ? path.dropLast() : path)
        let names = prefix.split(separator: "/", omittingEmptySubsequences: false)
        guard Self.isBucket(bucket), prefix.utf8.count <= 800, prefix.utf8.allSatisfy(Self.isAllowed),
            prefix.isEmpty ? path.isEmpty : names.allSatisfy({ !["", ".", ".."].contains($0) })
        else { return nil }
    }

    /// The URL without a slash at its end.
    package var text: String { prefix.isEmpty ? "s3://\(bucket)" : "s3://\(bucket)/\(prefix)" }

    /// The rule of Amazon S3, and the underscore of Google Cloud Storage.
    private static func isBucket(_ name: String) -> Bool {
        let labels = name.split(separator: ".", omittingEmptySubsequences: false)
        return (3...63).contains(name.utf8.count)
            && name.utf8.allSatisfy { isLowercaseOrDigit($0) || "-._".utf8.contains($0) }
            && labels.allSatisfy { isEnd($0.utf8.first) && isEnd($0.utf8.last) }
            && !(labels.count == 4 && labels.allSatisfy { UInt8($0) != nil })
    }

    private static func isEnd(_ byte: UInt8?) -> Bool { byte.map(isLowercaseOrDigit) ?? false }

    private static func isLowercaseOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Whether readers take the byte of a key literally.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"?#%&*[]\"<>^`|\\".utf8.contains(byte)
    }
}

/// The scheme of a URL, such as `s3` of `s3://bucket`; `nil` for a path.
package func urlScheme(of text: String) -> String? {
    guard let match = text.prefixMatch(of: /([A-Za-z][A-Za-z0-9+.\-]+):\//) else { return nil }
    return match.1.lowercased()
}
