import AppStoreModel
import Basics
import StrictJSON

extension Route {
    /// Send External Purchase Report: what was bought outside the App Store with one token.
    ///
    /// Apple documents neither a limit nor the greatest length of a report.
    static let reportExternalPurchases = Route(
        "reportExternalPurchases",
        .put,
        "/externalPurchase/v1/reports",
        requestsPerSecond: 50,
        maximumBodyLength: ExternalPurchaseReport.sizeLimit,
        action: { request, world throws(APIError) in
            let report = try checkedReport(request.body)
            let text = report["requestIdentifier"]?.string ?? ""
            let id = UUIDText.bytes(of: text).map(UUIDText.text)
            let answer = SimulatedAnswer { $0.member("requestIdentifier", text) }
            if let id, world.externalPurchases.reports[id] != nil {
                world.actions.record(request, requestIdentifier: text, isApplied: false)
                let error = ReportError(.duplicateValue, field: "requestIdentifier")
                return ActionResult(answer: answer, isRepeat: true, refusal: .report([error]))
            }
            let check = ExternalPurchaseCheck(report, world.externalPurchases, at: world.moment(for: request.date))
            guard check.errors.isEmpty, let id else { throw .report(check.errors) }
            world.externalPurchases.take(report, id)
            world.actions.record(request, requestIdentifier: text, isApplied: true)
            return ActionResult(answer: answer)
        }
    )

    /// Retrieve External Purchase Report: a report that Apple has taken.
    static let externalPurchaseReport = Route(
        "externalPurchaseReport",
        .get,
        "/externalPurchase/v1/reports/{requestIdentifier}",
        requestsPerSecond: 50,
        answer: { request, context throws(APIError) in
            guard let id = UUIDText.bytes(of: request.parameters["requestIdentifier"] ?? "").map(UUIDText.text),
                let report = context.world.externalPurchaseReport(id)
            else { throw .report([ReportError(.notFound, field: "requestIdentifier")]) }
            return SimulatedAnswer { $0.member("report", raw: JSONWriter.bytes(.object(report))) }
        }
    )

    private static let members: Set<String> = ["requestIdentifier", "externalPurchaseId", "status", "lineItems"]

    /// The report in a body.
    ///
    /// Throws ``APIError/badRequest`` for anything that is not a report, also with a member or a type that Apple does not document.
    private static func checkedReport(_ body: [UInt8]) throws(APIError) -> JSONObject {
        guard let report = try? StrictJSON.parseObject(body, sizeLimit: ExternalPurchaseReport.sizeLimit),
            report.members.allSatisfy({ members.contains($0.key) }),
            ExternalPurchaseField.haveTypes(in: report)
        else { throw .badRequest }
        return report
    }
}

/// One element of `errors` in the 400 answer to a report.
struct ReportError: Sendable, Equatable {
    let error: ExternalPurchaseError
    let field: String?
    let lineItemId: String?

    init(_ error: ExternalPurchaseError, field: String? = nil, line: ReportedLine? = nil) {
        self.error = error
        self.field = field
        lineItemId = line.flatMap { $0.text("lineItemId") }
    }

    fileprivate var json: [UInt8] {
        jsonObject {
            $0.member("errorCode", error.rawValue)
            $0.member("errorMessage", "\(error.objectName).")
            $0.member("fieldName", field)
            $0.member("lineItemId", lineItemId)
        }
    }
}

extension APIError {
    /// A 400 with `errors`.
    ///
    /// Source: SendReportErrorResponse, External Purchase Server API, read 2026-11.
    static func report(_ errors: [ReportError]) -> APIError {
        APIError(errors: jsonObject { $0.member("errors", objects: errors.map(\.json)) })
    }
}
