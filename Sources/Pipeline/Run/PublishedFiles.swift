package import JobFiles
import LedgerSchema
package import Publish

extension Pipeline {
    /// Publishes files again from the ledger; sends no request to Apple.
    ///
    /// - Parameter outputs: Files of the job.
    /// - Returns: A directory for each format.
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    package func publishAgain(_ outputs: [FileOutput]) async throws -> [PublishedFiles] {
        let fingerprints = try Credentials.trust(of: job).fingerprints
        // A part of a change export is recorded in the ledger.
        if outputs.contains(where: \.changes) { try await ledger.openToWrite() } else { try await ledger.open() }
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
        trustedRoots: [String],
        yields: Bool = false
    ) async throws -> PublishedFiles {
        let order = PublishOrder(output, job: job.name, run: run, trustedRoots: trustedRoots, yields: yields)
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
