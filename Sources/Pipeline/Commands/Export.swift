import AppStoreModel
package import JobPlan
import Ledger
import LedgerSchema
package import Publish

extension Pipeline {
    /// Publishes the job's files again from the ledger; sends no request to Apple.
    ///
    /// - Parameter format: Only files in this format; `nil` for all of the job.
    /// - Returns: A directory for each format.
    /// - Throws: ``NothingToExport``; errors that ``Failure/init(_:)`` explains.
    package func export(_ format: FileFormat? = nil) async throws -> [PublishedFiles] {
        let outputs = job.output.files.filter { $0.format == format ?? $0.format }
        guard !outputs.isEmpty else { throw NothingToExport(format: format) }
        let fingerprints = try Credentials.trust(of: job).fingerprints
        try await openLedger()
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
        return PublishedFiles(output: output, manifest: try await ledger.publish(order, of: app))
    }
}

/// A directory of published files.
package struct PublishedFiles: Sendable {
    package let output: FileOutput
    package let manifest: Manifest
}

/// Thrown by `export` for a job that publishes no files, or none in the format.
struct NothingToExport: Error {
    let format: FileFormat?

    var sentence: String {
        let format = format ?? .csv
        return "the job file has no output.\(format.rawValue); add one, such as "
            + "\(format.rawValue): {directory: out, tables: [transactions]}"
    }
}
