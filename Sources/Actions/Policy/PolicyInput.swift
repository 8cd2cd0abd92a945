import ActionKinds
import AppStoreModel
import JobFiles
import LedgerSchema
import Postgres

/// The open refund requests of the ledger as the input of a batch, with the answers of a policy.
///
/// The columns of the action come first, so that the result files show what was sent, and a rejected row can be planned again.
struct PolicyInput {
    let policy: ConsumptionPolicy
    let app: AppID
    let job: ActionJob

    /// The columns that say which request a row answers, and by which rule.
    private static let ownColumns = [
        "policy_rule", "requested_at", "consumption_request_reason", "product_id", "type", "storefront",
        "price_milliunits", "currency",
    ]

    /// Reads the requests that are open and have no answer, the oldest first.
    ///
    /// - Throws: ``ActionRefusal/noOpenRequest(job:)``, ``ActionInputError``, ``Postgres/PostgresError``.
    func read(on connection: borrowing PostgresConnection) throws -> (columns: [String], rows: [InputRow]) {
        let requests = try RefundRequest.all(of: app, days: nil, on: connection)
        guard !requests.isEmpty else { throw ActionRefusal.noOpenRequest(job: job.name) }
        return try rows(for: requests, try CustomerConsent(policy.consent, for: requests, on: connection))
    }

    /// Reads the requests that were never answered and that the policy answers, the oldest first.
    ///
    /// An answer that Apple rejected is an answer: it needs a person.
    ///
    /// - Parameters:
    ///   - skipped: Transaction IDs to leave out.
    ///   - limit: The most rows.
    /// - Returns: `nil` without such a request.
    /// - Throws: ``ActionInputError``, ``Postgres/PostgresError``.
    func unanswered(
        except skipped: Set<String>,
        atMost limit: Int,
        on connection: borrowing PostgresConnection
    ) throws -> (columns: [String], rows: [InputRow])? {
        let open = try RefundRequest.all(
            of: app,
            days: nil,
            unansweredIn: [.planned, .cancelled],
            on: connection
        ).filter { !skipped.contains($0.transactionId) && policy.rules[policy.rule(for: $0)].answer != .none }
        // The consents of a large app are not read for nothing.
        guard !open.isEmpty else { return nil }
        let consent = try CustomerConsent(policy.consent, for: open, on: connection)
        let requests = Array(open.filter(consent.covers).prefix(limit))
        return requests.isEmpty ? nil : try rows(for: requests, consent)
    }

    private func rows(
        for requests: [RefundRequest],
        _ consent: CustomerConsent
    ) throws -> (columns: [String], rows: [InputRow]) {
        let actionColumns = job.action.columns.map(\.name)
        let header = try InputHeader(actionColumns + Self.ownColumns, of: job.name, for: job)
        let rows = requests.enumerated().map { place, request in
            let rule = policy.rule(for: request)
            let values = Self.values(of: request, policy.rules[rule].answer, hasConsent: consent.covers(request))
            let cells = actionColumns.map { values[$0] ?? "" } + Self.cells(of: request, rule: rule)
            guard policy.rules[rule].answer != .none else {
                return header.unanswered(Int64(place + 1), cells, rule: rule + 1)
            }
            return header.row(Int64(place + 1), line: nil, cells)
        }
        return (header.columns, rows)
    }

    private static func values(
        of request: RefundRequest,
        _ answer: ConsumptionAnswer,
        hasConsent: Bool
    ) -> [String: String] {
        guard case .send(let values) = answer else { return ["transaction_id": request.transactionId] }
        var cells = values.mapValues(\.cell)
        cells["transaction_id"] = request.transactionId
        cells["customer_consented"] = "\(hasConsent)"
        // Apple asks for the token of the purchase, in version 1 only.
        if SendConsumptionInformation.isVersionOne(values) {
            cells["app_account_token"] = request.customerIDs[.appAccountToken]
        }
        return cells
    }

    private static func cells(of request: RefundRequest, rule: Int) -> [String] {
        [
            "\(rule + 1)", request.requestedAt.iso8601, request.reason ?? "", request.productId ?? "",
            request.type ?? "",
            request.storefront ?? "", request.priceMilliunits.map(String.init) ?? "", request.currency ?? "",
        ]
    }
}
