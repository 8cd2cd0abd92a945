import FoundationEssentials
import Ledger
import LedgerSchema
import Postgres

/// A part of the status of a job: what it reads, with which right, and its text.
protocol StatusPart: Codable, Sendable {
    /// The key of the part in the JSON, which is left out without the right; `nil` if each property of the part has its own key.
    static var key: String? { get }

    /// The keys that a role can lack the right to read, and what the text calls them.
    static var words: KeyValuePairs<String, String> { get }

    /// What the text calls the part if it is left out because of a lock.
    static var title: String { get }

    /// What the role must be able to read for these keys.
    static var tables: [String] { get }

    static func isReadable(_ context: StatusContext) -> Bool

    /// - Returns: `nil` if there is nothing to show.
    static func read(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws -> Self?

    /// The lines of the text, with `JOB` in place of the job file.
    func lines(in status: JobStatus) -> [String]
}

extension StatusPart {
    static var key: String? { nil }
    static var words: KeyValuePairs<String, String> { [:] }
    static var title: String { words.map(\.value).joined(separator: ", ") }
    static var tables: [String] { [] }

    static func isReadable(_ context: StatusContext) -> Bool { tables.allSatisfy { context.readable.contains($0) } }
}

/// The job whose status is read, and what the role may read.
struct StatusContext {
    let app: KnownApp
    let job: String
    /// The plan of the job file; `nil` without a job file.
    let plan: RunPlan?
    /// `nil` on a primary.
    let replica: Replica?
    let readable: Readable

    var appKey: Cell { .integer(app.id.rawValue) }
    var jobKey: [Cell] { [appKey, .text(job)] }
}

extension PostgresConnection {
    /// The rows of a query, whose columns are the properties of the value in snake case.
    borrowing func values<Value: Decodable>(_ query: String, _ parameters: [Cell] = []) throws -> [Value] {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try run("SELECT to_json(r)::text AS value FROM (\(query)) r", parameters).map { row in
            try decoder.decode(Value.self, from: Data(try row.text("value").utf8))
        }
    }

    /// The first of the ``values(_:_:)``.
    borrowing func value<Value: Decodable>(_ query: String, _ parameters: [Cell] = []) throws -> Value? {
        let values: [Value] = try values(query, parameters)
        return values.first
    }
}
