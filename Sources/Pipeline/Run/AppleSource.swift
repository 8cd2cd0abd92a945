import AppStoreAPI
import AppStoreModel
import Basics
import Crawl
import HTTPTransport
import JobFiles
import Ledger
import LedgerSchema
import Streams

/// Fetches pages from Apple.
///
/// All pages of an item use the query that its cursor belongs to.
struct AppleSource: PageSource {
    let job: JobFile
    /// The value of `now` for the whole run, so that every page of an item is requested with the same dates.
    let now: UnixMilliseconds
    let client: AppStoreClient
    /// For IDs that production does not know, if the job allows it.
    let otherClient: AppStoreClient?
    /// For a refusal that is about the key or about one item.
    let probe: AppleProbe
    /// Whose budget counts the probe.
    let app: AppID
    let time: Timekeeper

    func page(of item: WorkItem, departingBy departsBy: Duration, onNewConnection: Bool) async throws -> Page {
        // `clockNow` is read first: a pause between the two readings then only makes the deadline earlier.
        let clockNow = ContinuousClock.now
        let departure = HTTPRequest.Departure(
            by: clockNow + (departsBy - time.monotonic()),
            onNewConnection: onNewConnection
        )
        let client = item.otherEnvironment == nil ? client : (otherClient ?? client)
        guard let stream = job.streams[item.stream], let request = stream.request(for: item, now: now) else {
            throw LedgerError.invariant("\(item.stream.rawValue) \(item.key) is not what the job plans")
        }
        let page = try await client.page(request, departing: departure, decode: stream.page)
        try check(page, of: item)
        return page
    }

    func acceptsKey() async -> Bool {
        do {
            return try await probe.isAnswered(countingFor: app)
        } catch {
            return false
        }
    }

    /// Checks that the page is of the job's app and of the environment that was requested.
    ///
    /// Apple answers for the app in the token. If the page names another one, the job file has the wrong bundle ID.
    private func check(_ page: Page, of item: WorkItem) throws {
        if let found = page.bundleId, found != job.app.bundleId {
            let message = "Apple answered for \(found), but the job file names \(job.app.bundleId)"
            throw StopReason.configuration(FailureReport(status: 200, message: message))
        }
        let expected = item.otherEnvironment ?? job.app.environment
        if let found = page.environment, found != expected.rawValue {
            let message = "Apple answered from its \(found) environment, but the request was for \(expected.rawValue)"
            throw StopReason.configuration(FailureReport(status: 200, message: message))
        }
    }
}
