import FoundationEssentials
import TestSupport

/// The CSV directory as a reader sees it (invariant I10).
struct PublishedSet {
    let directory: String

    private struct Manifest: Decodable {
        struct File: Decodable {
            let file: String
            let table: String
            let rows: Int
            let bytes: Int
            let sha256: String
        }

        let files: [File]
    }

    /// The files in the manifest, by table; `nil` without a manifest.
    func files() throws -> [String: [UInt8]]? {
        guard let json = read("manifest.json") else { return nil }
        var files: [String: [UInt8]] = [:]
        for file in try JSONDecoder().decode(Manifest.self, from: Data(json)).files {
            files[file.table] = read(file.file)
        }
        return files
    }

    /// A sentence for each violated invariant.
    ///
    /// While a process publishes, the set can change between two reads. Only problems under the same manifest in both reads
    /// count.
    func broken(_ book: LedgerBook) async throws -> [String] {
        for _ in 1...20 {
            let before = read("manifest.json")
            let sentences = try await judge(before, book)
            if sentences.isEmpty || before == read("manifest.json") { return sentences }
        }
        return []
    }

    private func judge(_ json: [UInt8]?, _ book: LedgerBook) async throws -> [String] {
        var sentences: [String] = []
        // Without the directory, nothing has been published yet.
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        for name in names where !name.hasSuffix(".storeledger-tmp") && name != "manifest.json" {
            guard name.hasSuffix(".csv") else {
                sentences.append("I10: \(name) is no file of ours")
                continue
            }
            // A file disappears only when a rename replaces it.
            do {
                _ = try CSVText(read(name) ?? [])
            } catch {
                sentences.append("I10: \(name) is not whole: \(error)")
            }
        }
        guard let json else { return sentences }
        guard let manifest = try? JSONDecoder().decode(Manifest.self, from: Data(json)) else {
            return sentences + ["I10: manifest.json is not whole"]
        }
        for file in manifest.files {
            guard let bytes = read(file.file) else {
                sentences.append("I10: the manifest names \(file.file), which is not there")
                continue
            }
            let hash = try await book.sha256(of: bytes)
            if bytes.count != file.bytes || hash != file.sha256 {
                sentences.append("I10: \(file.file) is not what the manifest says")
            }
        }
        return sentences
    }

    /// The remaining temporary files.
    func temporaries() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).filter {
            $0.hasSuffix(".storeledger-tmp")
        }
    }

    private func read(_ name: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(filePath: directory + "/" + name))).map(Array.init)
    }
}
