package import Ledger

/// A job's report, ready to be written to a file.
package struct ReportDocument: Sendable {
    /// HTML in UTF-8.
    package let page: [UInt8]
    /// Whether the job has run before.
    ///
    /// If not, and the app is unknown too, the page says that there is no data.
    package let hasRun: Bool
}

extension Ledger {
    /// Makes the report of a job.
    ///
    /// Reads only views, so the analyst's role is sufficient.
    ///
    /// - Parameters:
    ///   - environment: `Production` or `Sandbox`.
    ///   - library: The library that draws the charts.
    ///   - version: The version of storeledger.
    /// - Returns: The page. It has no figures if the app or job is unknown.
    /// - Throws: ``LedgerError/schemaOlder(missing:)`` and ``LedgerError/viewNotRefreshed(view:)``;
    ///   ``Postgres/PostgresError``.
    package func report(
        of job: String,
        bundleId: String,
        environment: String,
        library: ChartLibrary,
        version: String
    ) async throws -> ReportDocument {
        let figures = try await reportFigures(of: job, bundleId: bundleId, environment: environment)
        var page = ReportPage(figures: figures, library: library, version: version)
        if figures.followsNotifications, let app = try await knownApp(bundleId: bundleId, environment: environment) {
            page.sources = try await customerSources(of: app)
        }
        return ReportDocument(page: Array(page.html.utf8), hasRun: figures.hasRun)
    }
}
