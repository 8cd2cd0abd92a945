import Actions
import AppStoreModel
import JobFiles
import Ledger
import Pipeline
import Publish

extension ActionPipeline {
    /// Checks everything that `actions plan` and `actions run` need, and skips checks that depend on a failed one.
    ///
    /// Sends one request to Apple, which changes nothing and costs one unit of one stream's limit.
    func check(_ diagnostics: Diagnostics) async {
        let credentials = await diagnostics.checkCredentials(of: job)
        await diagnostics.checkKeyFileName(of: job)
        if let warning = job.sandboxOnlyWarning { await diagnostics.passes("environment") { "warning: \(warning)" } }
        if let check = job.inputFileCheck {
            await diagnostics.passes("input") { try check() }
        }
        if let directory = job.resultsDirectory {
            await diagnostics.passes("result files") {
                try checkOutputDirectory(directory)
                return "\(directory) can be written"
            }
        }
        let known = await diagnostics.checkLedger(ledger) {
            await diagnostics.check("app") {
                let found = try await actions()
                return (found, "the ledger knows \(job.app.bundleId) (\(job.app.environment.rawValue))")
            }
        }
        if let known { await check(known, diagnostics) }
        guard let credentials else { return }
        if let known {
            let originMatches = await diagnostics.passes("origin") {
                try await ledger.check([known.app: origin(credentials.rootFingerprints)])
                return job.rehearsalSentence(credentials.rootFingerprints)
                    ?? "the job sends to \(job.appStore.baseURL), and Apple signed the ledger's records"
            }
            guard originMatches else { return }
        }
        let app = known?.app
        await diagnostics.passes("Apple") {
            try await AppleProbe(job: job, ledger: ledger, credentials: credentials).finding(countingFor: app)
        }
    }

    /// Checks what the ledger says about the job: the role, the query of the input, and the batch that a run would send.
    private func check(_ actions: ActionLedger, _ diagnostics: Diagnostics) async {
        await diagnostics.passes("role") { try await actions.checkRole() }
        if job.readsQuery { await diagnostics.passes("query") { try await actions.checkQuery() } }
        await diagnostics.passes("batch") { try await actions.batchFinding() }
    }
}
