import FoundationEssentials

/// `_manifest.json`: the parts of a change export, oldest first.
///
/// A part is published when it is in the manifest. Files that are not in it are ignored, and the next export removes them.
package struct ChangeManifest: Codable, Equatable, Sendable {
    package struct Part: Codable, Equatable, Sendable {
        /// One more than the part before; 1 for the first part of a directory.
        package let part: Int
        /// A UUID, which the ledger knows too.
        package let id: String
        /// The run that published the part; left out for the command `export`.
        package let run: Int64?
        /// The time of the database snapshot, ISO 8601 UTC.
        package let snapshot: String
        /// PostgreSQL's text of the snapshot of the part before; left out if the part has all rows and replaces all earlier ones.
        package let from: String?
        /// PostgreSQL's text of the snapshot that the part shows.
        package let to: String
        /// Rows that became visible between `from` and `to`.
        ///
        /// A table without such rows has no file.
        package let files: [Manifest.File]
        /// Keys of rows that are gone, in separate files.
        package let tombstones: [Manifest.File]
    }

    /// The version of the format: 1.
    package let version: Int
    package let job: String
    /// SHA-256 of the trusted root certificates, hexadecimal.
    package let trustedRoots: [String]
    package let parts: [Part]

    static let fileName = "_manifest.json"

    /// Reads the manifest of a directory; `nil` if there is none that can be read.
    static func read(in directory: any OutputDirectory) throws -> ChangeManifest? {
        try directory.contents(of: fileName).flatMap {
            try? JSONDecoder().decode(ChangeManifest.self, from: Data($0))
        }
    }

    func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }
}
