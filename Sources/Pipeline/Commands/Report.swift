import AppStoreModel
import JobPlan
import Ledger
import Publish
package import Report

extension Pipeline {
    /// The job's report as one HTML page.
    ///
    /// Reads only the ledger's views, so the analyst's role is sufficient. If the ledger knows neither the job nor the app,
    /// the page says that there is no data.
    package func report() async throws -> ReportDocument {
        let library = try ChartLibrary.find()
        try await openLedger()
        return try await ledger.report(
            of: job.name,
            bundleId: job.app.bundleId,
            environment: job.app.environment.rawValue,
            library: library,
            version: version
        )
    }
}

/// Writes a report to a file.
///
/// - Parameter path: The file, relative to the working directory; an existing one is replaced when the new one is
///   complete.
/// - Throws: Errors that ``Failure/init(_:)`` explains. An existing page is then unchanged.
package func write(_ report: ReportDocument, to path: String) throws {
    try publishFile(report.page, at: path)
}
