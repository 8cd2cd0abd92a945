import FoundationEssentials
import TestSupport

/// The CSV directory as a reader sees it (invariant I10): whole tables, or the parts of a change export.
struct PublishedSet {
    let directory: String
    /// Whether the job publishes only changes.
    let hasParts: Bool

    private struct File: Decodable {
        let file: String
        let table: String
        let bytes: Int
        let sha256: String
    }

    private struct Part: Decodable {
        let files: [File]
        let tombstones: [File]?
    }

    private struct Parts: Decodable {
        let parts: [Part]
    }

    private var manifestName: String { hasParts ? "_manifest.json" : "manifest.json" }

    /// Whole tables are one part without tombstones.
    private func parts(_ json: [UInt8]) throws -> [Part] {
        let decoder = JSONDecoder()
        return hasParts
            ? try decoder.decode(Parts.self, from: Data(json)).parts : [try decoder.decode(Part.self, from: Data(json))]
    }

    /// The records of each table, the header first, after all parts are applied by their first column, which is the key.
    ///
    /// - Returns: `nil` without a manifest.
    func tables() throws -> [String: [[String?]]]? {
        guard let json = read(manifestName) else { return nil }
        var tables: [String: [[String?]]] = [:]
        for part in try parts(json) {
            let files = try part.files.map { (table: $0.table, records: try CSVText(read($0.file) ?? []).records) }
            let gone = try (part.tombstones ?? []).map {
                (table: $0.table, records: try CSVText(read($0.file) ?? []).records)
            }
            for (table, records) in files + gone {
                let keys = Set(records.map(\.first))
                tables[table]?.removeAll { keys.contains($0.first) }
            }
            for (table, records) in files { tables[table, default: []].insert(contentsOf: records, at: 0) }
        }
        return tables
    }

    /// A sentence for each violated invariant.
    ///
    /// While a process publishes, the set can change between two reads. Only problems under the same manifest in both reads
    /// count.
    func broken(_ book: LedgerBook) async throws -> [String] {
        for _ in 1...20 {
            let before = read(manifestName)
            let sentences = try await judge(before, book)
            if sentences.isEmpty || before == read(manifestName) { return sentences }
        }
        return []
    }

    private func judge(_ json: [UInt8]?, _ book: LedgerBook) async throws -> [String] {
        var sentences: [String] = []
        // Without the directory, nothing has been published yet.
        for name in names() where !name.hasSuffix(Self.temporarySuffix) && name != manifestName {
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
        guard let parts = try? parts(json) else { return sentences + ["I10: \(manifestName) is not whole"] }
        for file in parts.flatMap({ $0.files + ($0.tombstones ?? []) }) {
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
    func temporaries() -> [String] { names().filter { $0.hasSuffix(Self.temporarySuffix) } }

    private static let temporarySuffix = ".storeledger-tmp"

    /// The paths of all files in the directory.
    ///
    /// Only parts have folders: `TABLE/dt=DATE`.
    private func names() -> [String] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: directory)) ?? []
        return hasParts
            ? paths.filter { !($0.split(separator: "/").last ?? "").hasPrefix("dt=") && $0.contains(".") } : paths
    }

    private func read(_ name: String) -> [UInt8]? {
        (try? Data(contentsOf: URL(filePath: directory + "/" + name))).map(Array.init)
    }
}
