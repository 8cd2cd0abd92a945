package import JobPlan
package import Ledger
package import LedgerSchema

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
}
