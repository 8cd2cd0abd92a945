import AppStoreAPI
import AppStoreModel
import Crawl
import HTTPTransport
import JobPlan
import Ledger
import Basics

/// Pages from Apple: each item asked with the one query its cursor belongs to.
struct AppleSource: PageSource {
    let job: JobFile
    /// What `now` means for the whole run, so that every page of an item is asked with the same dates.
    let now: UnixMilliseconds
    let client: AppStoreClient
    /// For IDs production does not know, where the job allows it.
    let otherClient: AppStoreClient?
    let time: Timekeeper

    func page(of item: WorkItem, departingBy departsBy: Duration, onNewConnection: Bool) async throws -> Page {
        // In this order: being stopped between the two readings only brings the moment nearer.
        let now = ContinuousClock.now
        let departure = HTTPRequest.Departure(
            by: now + (departsBy - time.monotonic()),
            onNewConnection: onNewConnection
        )
        let client = item.otherEnvironment == nil ? client : (otherClient ?? client)
        guard let stream = job.streams[item.stream], let request = stream.request(for: item, now: self.now) else {
            throw LedgerError.invariant("\(item.stream.rawValue) \(item.key) is not what the job plans")
        }
        let page = try await client.page(request, departing: departure, decode: type(of: stream).page)
        try check(page, of: item)
        return page
    }

    func renewToken() async {
        client.renewToken()
        otherClient?.renewToken()
    }

    /// Apple answers for the app of the token; another one means the job file names the wrong app.
    private func check(_ page: Page, of item: WorkItem) throws {
        if let found = page.bundleId, found != job.app.bundleId {
            let message = "Apple answered for \(found), the job file names \(job.app.bundleId)"
            throw StopReason.configuration(FailureReport(status: 200, message: message))
        }
        let expected = item.otherEnvironment ?? job.app.environment
        if let found = page.environment, found != expected.rawValue {
            let message = "Apple answered from its \(found) environment, \(expected.rawValue) was asked"
            throw StopReason.configuration(FailureReport(status: 200, message: message))
        }
    }
}
