package import AppStoreModel
import StrictJSON

/// Send External Purchase Report: what customers bought outside the App Store with one token.
///
/// The rows of the input with one token make one report. A row with the status LINE_ITEM is one of its lines, and a token without
/// purchases has one row. Apple takes a report as a whole or not at all. Source: External Purchase Server API 1.2, Send External
/// Purchase Report, ExternalPurchaseReport, Retrieve External Purchase Report, read 2026-11.
package enum ReportExternalPurchases: AppStoreAction {
    package static let name = StreamName("reportExternalPurchases")
    /// Apple documents no limit, so this is a careful one.
    package static let requestsPerSecond = 1.0
    package static let path = "/externalPurchase/v1/reports"

    package static let lineItem = "LINE_ITEM"
    static let statuses = [lineItem, "NO_LINE_ITEM", "UNRECOGNIZED_TOKEN", "DUPLICATE_TOKEN"]
    /// The most lines of a report.
    ///
    /// Apple documents no limit. A report is in memory as a whole when it is sent.
    package static let mostLines: Int64 = 50_000

    static let reportColumns = [
        ActionColumn("external_purchase_id", .text(255), isRequired: true),
        ActionColumn("status", .choice(statuses), isRequired: true),
    ]
    package static let columns = reportColumns + ExternalPurchaseLine.columns
    package static let storedColumns = reportColumns + [ActionColumn("line_items", .lineItems)]
    package static let groupsRows = true
    /// Source: Send External Purchase Report, read 2026-11.
    package static let keepsRefusedID = true
    package static let sizeLimit = ExternalPurchaseReport.sizeLimit
    package static let subject: String? = "external_purchase_id"
    package static let subjectKind: ActionSubject? = .externalPurchaseToken
    package static let readBack: ActionReadBack? = .externalPurchaseReport

    package static func problem(of row: ActionParameters) -> (rule: String, reason: String)? {
        guard row.text("status") == lineItem else {
            guard let column = ExternalPurchaseLine.columns.first(where: { row[$0.name] != nil }) else { return nil }
            let status = row.text("status") ?? ""
            return ExternalPurchaseLine.problem(
                .lineItemsNotAllowedForStatus,
                "\(column.name) has a value, and a row with the status \(status) has no line item"
            )
        }
        return ExternalPurchaseLine(row).problem
    }

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        let lines = row["line_items"]?.json.array?.compactMap(\.object).map { line in
            JSONValue.object(.of(ExternalPurchaseLine.columns.map { ($0.key, line[$0.name]) }))
        }
        let body = JSONObject.of([
            ("requestIdentifier", .string(id)),
            ("externalPurchaseId", row["external_purchase_id"]?.json),
            ("status", row["status"]?.json),
            ("lineItems", lines.map(JSONValue.array)),
        ])
        return .put(path, body: JSONWriter.bytes(.object(body)))
    }

    package static func outcome(_ body: [UInt8]) throws(RequestFailure) -> ActionOutcome {
        guard let answer = try? StrictJSON.parseObject(body), answer["requestIdentifier"]?.string != nil else {
            throw .badPage(reason: "the answer has no requestIdentifier")
        }
        return .succeeded(JSONObject())
    }

    package static func listedErrors(_ body: [UInt8]) -> ListedErrors? {
        guard let errors = ExternalPurchaseErrors(body), let first = errors.elements.first else {
            // Apple documents no body for a report that is merely malformed. Another code is one of the App Store Server API.
            guard (try? StrictJSON.parseObject(body))?["errorCode"] == nil else { return nil }
            let message = "Apple refused the report and did not say why"
            return ListedErrors(effect: .rejectsRow, code: nil, message: message, kept: JSONObject())
        }
        let effect: ListedErrors.Effect =
            if errors.ofReport(.duplicateValue) {
                .isRepeated
            } else if errors.contains(.simultaneousSubmission) {
                .retriesSoon
            } else {
                errors.contains(.duplicateValue) ? .mayBeRepeated : .rejectsRow
            }
        let others = errors.elements.count - 1
        return ListedErrors(
            effect: effect,
            code: first.code,
            message: first.sentence + (others > 0 ? "; \(others) more" : ""),
            kept: .of([("errors", errors.json)])
        )
    }
}

extension ExternalPurchaseErrors.Element {
    /// The message with the field and the line, at most 512 characters.
    fileprivate var sentence: String {
        let place = [field, lineItemID.map { "line item \($0)" }].compactMap(\.self).joined(separator: " of ")
        return String((message + (place.isEmpty ? "" : " (\(place))")).prefix(512))
    }
}
