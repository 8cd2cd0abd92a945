package import Ledger

/// A job's report as it is written to a file.
package struct ReportDocument: Sendable {
    /// HTML in UTF-8.
    package let page: [UInt8]
    /// Whether the job has ever run; if not, and the app is not known either, the page says that there is nothing yet.
    package let hasRun: Bool
}

extension Ledger {
    /// Makes the report of a job from the views alone, so an analyst's role is enough.
    ///
    /// - Parameters:
    ///   - job: The job's name.
    ///   - bundleId: Of the app.
    ///   - environment: `Production` or `Sandbox`.
    ///   - library: Draws the charts.
    ///   - version: Of storeledger.
    /// - Returns: The page; without figures for an unknown app or job.
    /// - Throws: ``LedgerError/schemaOlder(missing:)`` and ``LedgerError/viewNotFilled(view:)``;
    ///   ``Postgres/PostgresError``.
    package func report(
        of job: String,
        bundleId: String,
        environment: String,
        library: ChartLibrary,
        version: String
    ) async throws -> ReportDocument {
        let figures = try await reportFigures(of: job, bundleId: bundleId, environment: environment)
        let page = ReportPage(figures: figures, library: library, version: version)
        return ReportDocument(page: Array(page.html.utf8), hasRun: figures.hasRun)
    }
}
