import AppStoreModel
import JobPlan
import Ledger
import Publish
import Report

/// What `report` has written.
package struct WrittenReport: Sendable {
    package let bytes: Int
    /// Whether the job has ever run; if not, and the app is not known either, the page says that there is nothing yet.
    package let hasRun: Bool
}

extension Pipeline {
    /// Writes the job's report as one HTML page; read from the ledger's views alone, so an analyst may.
    ///
    /// - Parameter path: Where to; relative to the working directory.
    /// - Returns: What there is to say of it.
    /// - Throws: What ``Failure/init(_:)`` explains; the page that was there is then as it was.
    package func report(to path: String) async throws -> WrittenReport {
        let library = try ChartLibrary.find()
        let reader = try await Ledger.opened(
            at: job.output.postgres.url,
            schema: job.output.postgres.schema,
            applicationName: applicationName,
            databaseDeadline: ledger.deadline
        )
        let report = try await reader.report(
            of: job.name,
            bundleId: job.app.bundleId,
            environment: job.app.environment.rawValue,
            library: library,
            version: version
        )
        try publishFile(report.page, at: path)
        return WrittenReport(bytes: report.page.count, hasRun: report.hasRun)
    }
}
