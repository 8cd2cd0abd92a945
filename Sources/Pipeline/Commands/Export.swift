import AppStoreModel
import Basics
package import JobPlan
import Ledger
import LedgerSchema
package import Publish

extension Pipeline {
    /// Publishes the job's files again from the ledger; sends no request to Apple.
    ///
    /// - Parameters:
    ///   - format: Only files in this format; `nil` for all of the job.
    ///   - changes: Whether to publish the changes even if the job file does not ask for it.
    /// - Returns: A directory for each format.
    /// - Throws: ``NothingToExport``, ``ChangesNotLogged``; errors that ``Failure/init(_:)`` explains.
    package func export(_ format: FileFormat? = nil, changes: Bool = false) async throws -> [PublishedFiles] {
        let outputs = job.output.files.filter { $0.format == format ?? $0.format }
            .map { changes ? $0.withChanges : $0 }
        for output in outputs where output.changes {
            let other = output.tables.first { !FileOutput.tablesWithChanges.contains($0) }
            if let other { throw ChangesNotLogged(table: other) }
        }
        guard !outputs.isEmpty else { throw NothingToExport(format: format) }
        let fingerprints = try Credentials.trust(of: job).fingerprints
        // A part of a change export is recorded in the ledger.
        if outputs.contains(where: \.changes) { try await openLedgerToWrite() } else { try await openLedger() }
        // The manifest names the roots, so they must be those that signed the records.
        try await checkOrigins(fingerprints)
        let app = try await ownApp()
        var published: [PublishedFiles] = []
        for output in outputs {
            published.append(try await publish(output, app: app, run: nil, trustedRoots: fingerprints))
        }
        return published
    }

    func publish(
        _ output: FileOutput,
        app: AppID,
        run: Int64?,
        trustedRoots: [String]
    ) async throws -> PublishedFiles {
        let order = PublishOrder(output, job: job.name, run: run, trustedRoots: trustedRoots)
        guard output.changes else {
            return PublishedFiles(output: output, files: try await ledger.publish(order, of: app).files)
        }
        let part = try await ledger.publishChanges(order, of: app)
        return PublishedFiles(output: output, files: part.map { $0.files + $0.tombstones } ?? [])
    }
}

/// A directory of published files.
package struct PublishedFiles: Sendable {
    package let output: FileOutput
    /// The files of this publication; empty if nothing has changed since the last part.
    package let files: [Manifest.File]
}

/// Thrown by `export --changes` for a job with a table whose changes are not logged.
struct ChangesNotLogged: ExplainedError {
    let table: String

    var sentence: String {
        "the changes of \(table) cannot be published; leave it out of tables, or export without --changes"
    }

    var status: ExitStatus { .badInput }
}

/// Thrown by `export` for a job that publishes no files, or none in the format.
struct NothingToExport: ExplainedError {
    let format: FileFormat?

    var sentence: String {
        let format = format ?? .csv
        return "the job file has no output.\(format.rawValue); add one, such as "
            + "\(format.rawValue): {directory: out, tables: [transactions]}"
    }

    var status: ExitStatus { .badInput }
}
