import ActionKinds
package import JobFiles
package import Ledger
package import LedgerSchema
import Postgres
import StrictJSON

/// The batches of one job in the ledger.
package struct ActionLedger: Sendable {
    package let ledger: Ledger
    package let app: AppID
    package let job: ActionJob

    package init(ledger: Ledger, app: AppID, job: ActionJob) {
        self.ledger = ledger
        self.app = app
        self.job = job
    }

    /// The values with which the request of a row is made.
    ///
    /// - Parameter row: With the columns `parameters` and `consistency_token` of `action_rows`.
    /// - Returns: The values, with the consistency token if the row has one.
    /// - Throws: ``Postgres/PostgresError``, ``StrictJSON/StrictJSONError``.
    func parameters(of row: PostgresRow) throws -> ActionParameters {
        let values = ActionParameters(
            try StrictJSON.parseObject(try row.utf8("parameters"), sizeLimit: job.action.sizeLimit),
            columns: job.action.storedColumns
        )
        guard let token = try row.textOrNil("consistency_token") else { return values }
        return values.adding(ActionParameters.consistencyToken, .text(token))
    }
}
