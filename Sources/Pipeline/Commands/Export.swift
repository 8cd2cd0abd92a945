import AppStoreModel
import JobPlan
import Ledger
import LedgerSchema
package import Publish

extension Pipeline {
    /// Publishes the job's CSV files again from the ledger; sends no request to Apple.
    ///
    /// - Throws: Errors that ``Failure/init(_:)`` explains.
    package func export() async throws -> Manifest {
        guard let csv = job.output.csv else { throw NothingToExport() }
        let fingerprints = try Credentials.trust(of: job).fingerprints
        try await openLedger()
        // The manifest contains the roots that signed the records.
        try await checkOrigins(fingerprints)
        return try await publish(csv, app: try await ownApp(), run: nil, trustedRoots: fingerprints)
    }

    func publish(_ csv: CSVOutput, app: AppID, run: Int64?, trustedRoots: [String]) async throws -> Manifest {
        try await ledger.publish(
            CSVOrder(directory: csv.directory, tables: csv.tables, job: job.name, run: run, trustedRoots: trustedRoots),
            of: app
        )
    }
}

/// Thrown by `export` for a job without CSV output.
struct NothingToExport: Error {}
