import ActionKinds
import AppStoreAPI
import AppStoreModel
import Basics
import StrictJSON

/// What Retrieve External Purchase Report says about the report of a row.
///
/// Apple keeps only reports that it has taken. Source: Retrieve External Purchase Report, read 2026-11.
struct ReportEvidence {
    let found: Evidence

    /// - Returns: `nil` for an answer that says nothing about the report.
    init?(of row: LeasedRow, in written: WriteAnswer) {
        let id = UUIDText.text(of: row.requestID)
        switch written.answer.status {
        case 200:
            let answer = try? StrictJSON.parseObject(written.body, sizeLimit: ExternalPurchaseReport.sizeLimit)
            guard let report = answer?["report"]?.object else { return nil }
            found =
                Self.difference(between: report, and: row.parameters).map {
                    .undecided("Apple has a report \(id) with another \($0)")
                } ?? .applied("report \(id)")
        case 400 where ExternalPurchaseErrors(written.body)?.contains(.notFound) == true:
            found = .notApplied("Apple has no report \(id)")
        default: return nil
        }
    }

    /// The columns of a line that are compared.
    private static let compared = ReportExternalPurchases.columns.filter {
        [
            "line_item_id", "creation_date", "event_type", "product_identifier", "amount_tax_inclusive",
            "net_amount_tax_exclusive", "reporting_currency", "pricing_currency", "tax_country",
            "reference_line_item_id",
        ].contains($0.name)
    }

    /// The first field in which the report differs from what was sent; `nil` if it is the same.
    ///
    /// Of the lines, what Apple cannot write in another way is compared; a default or a rate can be.
    private static func difference(between report: JSONObject, and sent: ActionParameters) -> String? {
        for (key, column) in [("externalPurchaseId", "external_purchase_id"), ("status", "status")]
        where report[key]?.string != sent.text(column) {
            return key
        }
        let taken = (report["lineItems"]?.array ?? []).compactMap(\.object).map { line in
            compared.map { line[$0.key] }
        }
        let lines = sent.elements("line_items").compactMap(\.object).map { line in
            compared.map { line[$0.name] }
        }
        return Set(taken.map(text)) == Set(lines.map(text)) && taken.count == lines.count ? nil : "lineItems"
    }

    private static func text(_ values: [JSONValue?]) -> String {
        JSONWriter.text(.array(values.map { $0 ?? .null }))
    }
}
