import Basics
import Hashing

/// The IDs of batches and requests: version 5 UUIDs, so that a lost database gives the same IDs again.
///
/// Source: RFC 9562, 5.5.
package enum RequestID {
    /// The namespace of all batches.
    private static let namespace: [UInt8] = [
        0x6C, 0x0F, 0x2A, 0x51, 0x9D, 0x3B, 0x4E, 0x7C, 0x8F, 0x4D, 0x21, 0xB7, 0x5A, 0xE0, 0x93, 0xC6,
    ]

    /// The ID of a batch.
    ///
    /// - Parameters:
    ///   - sha256: The hash of the batch, hexadecimal.
    ///   - occurrence: The number of earlier batches with the same hash.
    /// - Returns: Sixteen bytes.
    package static func batch(_ sha256: String, occurrence: Int64) -> [UInt8] {
        versionFive(in: namespace, "\(sha256)/\(occurrence)")
    }

    /// The ID of the request of a row.
    ///
    /// - Returns: Sixteen bytes.
    package static func row(_ position: Int64, of batch: [UInt8]) -> [UInt8] {
        versionFive(in: batch, String(position))
    }

    /// The version 5 UUID of a name.
    static func versionFive(in namespace: [UInt8], _ name: String) -> [UInt8] {
        var bytes = Array(SHA1.digest(of: namespace + Array(name.utf8)).prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x50
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes
    }
}
