import Ledger
import Status

/// A job's report, ready to be written to a file.
package struct ReportDocument: Sendable {
    /// HTML in UTF-8.
    package let page: [UInt8]
    /// Whether the job has run before.
    ///
    /// If not, and the app is unknown too, the page says that there is no data.
    package let hasRun: Bool

    /// The most bytes that a page should have.
    static let limit = 3_000_000
}

extension Ledger {
    /// Makes the report of apps.
    ///
    /// Reads only views and exchange rates, so the analyst's role is sufficient. A page that is too large is made again with fewer products
    /// and storefronts in full.
    ///
    /// - Parameters:
    ///   - subjects: At least one app and its job.
    ///   - version: The version of storeledger.
    /// - Returns: The page. It has no figures if the app or job is unknown.
    /// - Throws: ``LedgerError/schemaOlder(missing:)`` and ``LedgerError/viewNotRefreshed(view:)``;
    ///   ``Postgres/PostgresError``.
    package func report(of subjects: [ReportSubject], version: String) async throws -> ReportDocument {
        var detail: Int?
        while true {
            let (figures, place) = try await reportFigures(of: subjects, detail: detail)
            var page = ReportPage(figures: figures, version: version)
            if figures.followsNotifications {
                page.sources = try await customerSources(of: subjects)
            }
            let bytes = Array(page.html.utf8)
            guard bytes.count > ReportDocument.limit, place + 1 < ReportDetail.all.count else {
                return ReportDocument(page: bytes, hasRun: figures.hasRun)
            }
            detail = place + 1
        }
    }

    /// Where the customers of the first app came from that lacks some.
    private func customerSources(of subjects: [ReportSubject]) async throws -> CustomerSources? {
        for subject in subjects {
            guard let app = try await knownApp(bundleId: subject.bundleId, environment: subject.environment) else {
                continue
            }
            let sources = try await customerSources(of: app)
            if sources.lacksList { return sources }
        }
        return nil
    }
}
