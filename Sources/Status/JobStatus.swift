package import Ledger
package import LedgerSchema
import Postgres

/// The status of one job, as a list of parts; its JSON form is stable and documented in `docs/reference/json.md`.
package struct JobStatus: Codable, Sendable {
    /// In the order of the text.
    static let partTypes: [any StatusPart.Type] = [
        Heading.self,
        Runs.self,
        Items.self,
        Failures.self,
        Rejects.self,
        Gaps.self,
        MissingCustomers.self,
        Late.self,
        LeftOutFacts.self,
        WithoutPrice.self,
        Receiver.self,
        ExternalPurchases.self,
        Forwards.self,
        Budgets.self,
        Views.self,
        Rates.self,
        OldestUnfinished.self,
        Certificates.self,
        TableSizes.self,
        Removable.self,
        NotReadable.self,
        Locked.self,
    ]

    private let parts: [any StatusPart]

    fileprivate init(_ context: StatusContext, _ connection: borrowing PostgresConnection) throws {
        var found: [any StatusPart] = []
        var locked: [String] = []
        for type in Self.partTypes where type.key == nil || type.isReadable(context) {
            try connection.script("SAVEPOINT part")
            do {
                if let part = try type.read(context, connection) { found.append(part) }
            } catch SQLState.lockNotAvailable {
                // The same session probably has locked what other parts read.
                try connection.script("ROLLBACK TO SAVEPOINT part; SET LOCAL lock_timeout = '100ms'")
                locked.append(type.title)
            }
        }
        if !locked.isEmpty { found.append(try Locked(locked, connection)) }
        parts = found
    }

    /// Whether parts are left out because another session has locked their tables.
    package var isPartial: Bool { self[Locked.self] != nil }

    package init(from decoder: any Decoder) throws {
        let object = try decoder.container(keyedBy: Key.self)
        parts = try Self.partTypes.compactMap { type in
            guard let key = type.key else { return try type.init(from: decoder) }
            return try object.decodeIfPresent(type, forKey: Key(stringValue: key))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Key.self)
        for part in parts {
            if let key = type(of: part).key {
                try object.encode(part, forKey: Key(stringValue: key))
            } else {
                try part.encode(to: encoder)
            }
        }
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The text, with `JOB` in place of the job file.
    package var lines: [String] { parts.flatMap { $0.lines(in: self) } }

    /// - Returns: `nil` if the part was left out.
    subscript<Part: StatusPart>(_ type: Part.Type) -> Part? { parts.lazy.compactMap { $0 as? Part }.first }
}

extension Ledger {
    /// Reads the status of a job.
    ///
    /// It reads only the ledger, so it works on any machine, with or without a running job.
    ///
    /// - Parameters:
    ///   - job: The name of the job.
    ///   - app: The app of the job.
    ///   - bundleId: The bundle ID of the app.
    ///   - environment: The environment of the app.
    ///   - plan: The plan of the job file, to count the items that a retry would request; `nil` without a job file.
    /// - Returns: Empty lists for a job that has never run.
    /// - Throws: ``Postgres/PostgresError``.
    package func status(
        of job: String,
        app: AppID,
        bundleId: String,
        environment: String,
        plan: RunPlan? = nil
    ) async throws -> JobStatus {
        let known = KnownApp(id: app, bundleId: bundleId, environment: environment)
        return try await snapshot { connection, replica in
            let readable = try Readable(connection)
            let context = StatusContext(app: known, job: job, plan: plan, replica: replica, readable: readable)
            return try JobStatus(context, connection)
        }
    }
}
