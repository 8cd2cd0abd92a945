import FoundationEssentials

/// Reads a directory of CSV files as `docs/reference/csv.md` tells a consumer to: only what the manifest names.
///
/// Invariant I10: each file a manifest names is there, of its length and SHA-256, its last line complete; whatever else
/// is there is a whole file of this publication or the one before, or has a temporary name.
struct PublicationReader {
    /// Every content that a whole CSV file may have, and its SHA-256.
    let whole: [Data: String]

    private struct Manifest: Decodable {
        struct File: Decodable {
            let file: String
            let bytes: Int
            let sha256: String
        }
        let files: [File]
    }

    /// What is wrong with the directory; `nil` when nothing is.
    func complaint(about directory: String) throws -> String? {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        for name in names where !name.hasSuffix(".storeledger-tmp") && name != "manifest.json" {
            guard let bytes = FileManager.default.contents(atPath: "\(directory)/\(name)"), whole[bytes] != nil else {
                return "\(name) is not whole"
            }
        }
        guard let text = FileManager.default.contents(atPath: directory + "/manifest.json") else { return nil }
        guard let manifest = try? JSONDecoder().decode(Manifest.self, from: text) else {
            return "manifest.json is not whole"
        }
        for file in manifest.files {
            guard let bytes = FileManager.default.contents(atPath: "\(directory)/\(file.file)") else {
                return "\(file.file) is named and not there"
            }
            guard bytes.count == file.bytes, whole[bytes] == file.sha256, bytes.suffix(2) == Data("\r\n".utf8) else {
                return "\(file.file) is not the one the manifest describes"
            }
        }
        return nil
    }
}
