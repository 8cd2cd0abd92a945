import FoundationEssentials

/// `manifest.json`: the list of the published files.
///
/// It is published last, so a reader that reads only the files in it never sees an incomplete set.
package struct Manifest: Codable, Equatable, Sendable {
    package struct File: Codable, Equatable, Sendable {
        package let file: String
        package let table: String
        /// The number of rows, without the header.
        package let rows: Int
        package let bytes: Int64
        /// Hexadecimal.
        package let sha256: String
    }

    /// The version of the format: 1.
    package let version: Int
    package let job: String
    /// The run that published the files; `null` for the command `export`.
    package let run: Int64?
    /// The time of the database snapshot of all files, ISO 8601 UTC.
    package let snapshot: String
    /// SHA-256 of the trusted root certificates, hexadecimal; Apple Root CA - G3 unless the job names a server on loopback.
    package let trustedRoots: [String]
    package let files: [File]

    static let fileName = "manifest.json"

    func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }
}

extension Manifest {
    /// The job whose files are in a directory; `nil` without a manifest that can be read.
    package static func job(in directory: String) -> String? {
        FileManager.default.contents(atPath: directory + "/manifest.json").flatMap {
            try? JSONDecoder().decode(Manifest.self, from: $0)
        }?.job
    }
}
