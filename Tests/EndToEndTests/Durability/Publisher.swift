import FoundationEssentials
import TestSupport
import Testing

/// A job that has published once and would publish other contents now.
struct Publisher: Sendable {
    let stage: Stage
    let job: String
    /// Where it publishes.
    let directory: String

    static let tables = ["transactions", "notifications"]

    /// Fills a ledger, publishes it, and changes every row.
    static func with<Result>(_ body: (Publisher) async throws -> Result) async throws -> Result {
        try await Stage.with(.init(customers: 10, transactionsPerCustomer: 25)) { stage in
            var job = stage.job
            job.csv = "{directory: out, tables: [\(tables.joined(separator: ", "))]}"
            let path = try await stage.migrated(job)
            try await stage.run(path)
            let book = try stage.book()
            try await book.change("UPDATE transactions SET currency = 'XXX'")
            try await book.change("UPDATE notifications SET subtype = 'CHANGED'")
            return try await body(
                Publisher(stage: stage, job: path, directory: stage.store.directory + "/out")
            )
        }
    }

    struct Export {
        let outcome: Stage.Outcome
        let calls: [RecordedCall]
        var operations: [FileOperation] { calls.compactMap(\.operation) }
    }

    /// Publishes again, watched by the shim.
    func export(faults: String = "", space: Int? = nil) async throws -> Export {
        let log = stage.directory + "/calls-\(UUID().uuidString)"
        let environment = await PublicationShim.environment(
            watching: directory,
            log: log,
            faults: faults,
            space: space
        )
        let outcome = try await stage.storeledger("export", job, environment: environment)
        let text = FileManager.default.contents(atPath: log) ?? Data()
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n")
        return Export(outcome: outcome, calls: lines.compactMap { RecordedCall(shim: $0) })
    }

    /// Every file of the directory, hidden ones too.
    func files() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: "\(directory)/\($0)"))) }
        )
    }

    /// Puts exactly these files into the directory.
    func restore(_ files: [String: Data]) throws {
        try FileManager.default.removeItem(atPath: directory)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        for (name, bytes) in files { try bytes.write(to: URL(filePath: "\(directory)/\(name)")) }
    }

    /// A reader that knows these files as whole.
    func reader(of publications: [[String: Data]]) async throws -> PublicationReader {
        let book = try stage.book()
        var whole: [Data: String] = [:]
        for bytes in publications.flatMap(\.values) { whole[bytes] = try await book.sha256(of: Array(bytes)) }
        return PublicationReader(whole: whole)
    }
}
