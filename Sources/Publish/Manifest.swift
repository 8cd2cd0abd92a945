import FoundationEssentials

/// `manifest.json`: names the files that belong together; published last, so whoever reads only what it names never
/// sees half a set.
package struct Manifest: Codable, Equatable, Sendable {
    package struct File: Codable, Equatable, Sendable {
        package let file: String
        package let table: String
        /// Without the header.
        package let rows: Int
        package let bytes: Int64
        /// Hexadecimal.
        package let sha256: String
    }

    /// Of this form; 1.
    package let version: Int
    package let job: String
    /// The run whose end was published; `null` when the ledger was exported by hand.
    package let run: Int64?
    /// The moment of the database snapshot all files show, ISO 8601 UTC.
    package let snapshot: String
    /// SHA-256 of the root certificates that were trusted, hexadecimal; Apple Root CA - G3 unless the job was a rehearsal.
    package let trustedRoots: [String]
    package let files: [File]

    func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }
}
