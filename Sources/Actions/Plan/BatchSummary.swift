import ActionKinds
package import AppStoreModel
import Basics
import JobFiles
import Ledger
import LedgerSchema
import Postgres
import StrictJSON

/// What a plan shows of a batch.
package struct BatchSummary: Sendable {
    /// The rows that one rule excluded.
    package struct Rule: Sendable {
        /// `invalid`, `ineligible`, `duplicate` or `same`.
        package let verdict: String
        package let rule: String
        package let rows: Int64
        /// The reason of one of the rows.
        package let example: String
    }

    /// What the rows to send give away in one currency.
    package struct Money: Sendable {
        package let currency: String
        package let rows: Int64
        package let milliunits: Int64
    }

    /// How many of the rows to send need the customer's consent; regions where the law always requires it are not known.
    package struct Consent: Sendable, Equatable {
        package let required: Int64
        package let notRequired: Int64
        /// The ledger has no price of an item, or the amount that decides is in another currency than US dollars.
        package let unknown: Int64
    }

    package let batch: ActionBatch
    /// The rows of the input of an action that groups them; `nil` for other actions.
    package let inputRows: Int64?
    /// What ``ActionLedger/priceChanges(of:)`` found, the most rows first.
    package let prices: [PriceChange]
    /// The most frequent first.
    package let rules: [Rule]
    package let money: [Money]
    /// `nil` for an action about which Apple never asks a customer.
    package let consent: Consent?
    /// The first requests, at most five.
    package let requests: [AppStoreRequest]
    /// The rows to send by the endpoint whose limit they count against.
    package let rowsByEndpoint: [StreamName: Int64]
    /// Sentences about what Apple has and the input does not name, and about what changes.
    package var remarks: [String] = []
}

extension ActionLedger {
    /// Requests that a plan shows.
    private static let shownRequests: Int64 = 5

    /// Reads what a plan shows of a batch.
    package func summary(of batch: ActionBatch) async throws -> BatchSummary {
        let (app, job) = (app, job)
        let prices = try await priceChanges(of: batch)
        return try await ledger.transaction(.readOnlySnapshot) { connection in
            let key: KeyValuePairs<String, Cell> = ["app": .integer(app.rawValue), "batch": .uuid(batch.id)]
            var rules: [BatchSummary.Rule] = []
            for row in try connection.run(.countRows, key) where try row.text("verdict") != "valid" {
                rules.append(
                    BatchSummary.Rule(
                        verdict: try row.text("verdict"),
                        rule: try row.text("rule"),
                        rows: try row.int64("rows"),
                        example: try row.textOrNil("example") ?? ""
                    )
                )
            }
            let money = try connection.run(.countMoney, key).map { row in
                BatchSummary.Money(
                    currency: try row.text("currency"),
                    rows: try row.int64("rows"),
                    milliunits: try row.int64("milliunits")
                )
            }
            let consent =
                try job.action.mayNeedConsent ? connection.run(.countConsent, key).first.map(self.consent) : nil
            let inputRows =
                try job.action.groupsRows
                ? connection.run(
                    "SELECT count(*) AS rows FROM action_input_rows WHERE app_id = $1 AND batch_id = $2",
                    [.integer(app.rawValue), .uuid(batch.id)]
                )[0].int64("rows") : nil
            let first = try connection.run(
                .firstRows,
                [
                    "app": .integer(app.rawValue), "batch": .uuid(batch.id), "count": .bigint(Self.shownRequests),
                    "keeps_refused_id": .boolean(job.action.keepsRefusedID),
                    "action": .text(job.action.name.rawValue),
                ]
            )
            let requests = try first.map { row in
                let parameters = try parameters(of: row)
                let id = RequestID.row(try row.int64("position"), of: batch.id)
                return job.action.request(
                    parameters,
                    id: try row.textOrNil("request_id") ?? UUIDText.text(of: id)
                )
            }
            let kinds = try connection.run(
                """
                SELECT parameters ->> 'kind' AS kind, count(*) AS rows FROM action_rows
                 WHERE app_id = $1 AND batch_id = $2 AND verdict = 'valid' AND parameters IS NOT NULL GROUP BY 1
                """,
                [.integer(app.rawValue), .uuid(batch.id)]
            )
            var rowsByEndpoint: [StreamName: Int64] = [:]
            for row in kinds {
                let kind = try row.textOrNil("kind").map { ActionParameters([("kind", .text($0))]) }
                rowsByEndpoint[job.action.endpoint(of: kind ?? .init()), default: 0] += try row.int64("rows")
            }
            return BatchSummary(
                batch: batch,
                inputRows: inputRows,
                prices: prices,
                rules: rules,
                money: money,
                consent: consent,
                requests: requests,
                rowsByEndpoint: rowsByEndpoint
            )
        }
    }

    private func consent(_ row: PostgresRow) throws -> BatchSummary.Consent {
        BatchSummary.Consent(
            required: try row.int64("required"),
            notRequired: try row.int64("not_required"),
            unknown: try row.int64("unknown")
        )
    }
}
