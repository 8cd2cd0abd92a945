import AppStoreModel
import JobPlan
import Ledger
import Publish
import Report

/// The result of `report`.
package struct WrittenReport: Sendable {
    package let bytes: Int
    /// Whether the job has run before.
    ///
    /// If the ledger knows neither the job nor the app, the page says that there is no data.
    package let hasRun: Bool
}

extension Pipeline {
    /// Writes the job's report as one HTML page.
    ///
    /// Reads only the ledger's views, so the analyst's role is sufficient.
    ///
    /// - Parameter path: The file to write, relative to the working directory.
    /// - Returns: The facts about the page that the command prints.
    /// - Throws: Errors that ``Failure/init(_:)`` explains. An existing page is then unchanged.
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
