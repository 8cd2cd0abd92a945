import AppStoreModel
import FoundationEssentials
import JobFiles
import TestSupport
import Testing

@testable import Planning

/// The number of requests that a run needs, and their time.
struct PlanEstimateTests {
    private static let midnight = UnixMilliseconds(rawValue: 1_767_225_600_000)

    private static func job(_ streams: String..., environment: String = "Production") async throws -> JobFile {
        let text = """
            version: 1
            name: nightly-sync
            app: {bundleId: com.example.game, appAppleId: 1234567890, environment: \(environment)}
            appStore: {issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: 2X9R4HXF34, privateKeyFile: key.p8}
            transactionIds:
              list: ["2000000123456789"]
            streams:
            \(streams.map { "  \($0)" }.joined(separator: "\n"))
            output:
              postgres: {url: postgresql:///ledger}

            """
        return try await withTemporaryDirectory { directory in
            let path = "\(directory)/job.yaml"
            try Data(text.utf8).write(to: URL(filePath: path))
            return try AcceptedJobs.crawl.load(path: path, environment: [:])
        }
    }

    @Test func `the estimate is as long as the slowest stream`() async throws {
        let job = try await Self.job(
            "transactionHistory: {}",
            "refundHistory: {for: all}",
            "notificationHistory: {scope: app, startDate: -7d}"
        )
        let estimate = PlanEstimate(job: job, transactionIds: 1_000_000, now: Self.midnight, lastRun: nil)

        #expect(estimate.streams.map(\.items) == [1_000_000, 1_000_000, 7])
        #expect(estimate.streams.map(\.minimumRequests) == [1_000_000, 1_000_000, 7])
        // The figures of a million IDs: 5.6 and 27.8 hours at the limit, 11.1 and 55.6 at half of it.
        #expect(estimate.streams.map(\.atLimit).prefix(2) == [.seconds(20_000), .seconds(100_000)])
        #expect(estimate.atLimit == .seconds(100_000) && estimate.atShare == .seconds(200_000))
        #expect(estimate.streams.allSatisfy { !$0.isUpperBound } && !estimate.isUpperBound)
    }

    @Test func `a later run requests the time since, failed deliveries, and days due for a second reading`()
        async throws
    {
        func items(
            _ streams: String,
            hoursSinceMidnight hours: Int64 = 4,
            lastRunHoursAgo: Int64 = 24,
            daysToReadAgain: Int = 1,
            environment: String = "Production"
        ) async throws -> (items: Int, nightly: Int?) {
            let job = try await Self.job(streams, environment: environment)
            let now = Self.midnight + .seconds(hours * 3_600)
            let estimate = PlanEstimate(
                job: job,
                transactionIds: 5,
                now: now,
                lastRun: now - .seconds(lastRunHoursAgo * 3_600),
                daysToReadAgain: daysToReadAgain
            )
            return (estimate.streams[0].minimumRequests, estimate.streams[0].nightlyRequests)
        }
        // Two windows, with midnight between; failed deliveries; a day.
        let nightly = "notificationHistory: {scope: app, startDate: lastRun}"
        #expect(try await items(nightly) == (4, 4))
        #expect(try await items(nightly, daysToReadAgain: 100) == (103, 4))
        #expect(try await items(nightly, hoursSinceMidnight: 23, lastRunHoursAgo: 2) == (3, 4))
        // The overlap of an hour reaches over midnight.
        #expect(try await items(nightly, hoursSinceMidnight: 2, lastRunHoursAgo: 1, daysToReadAgain: 0) == (2, 4))
        #expect(try await items(nightly, hoursSinceMidnight: 1, lastRunHoursAgo: 1, daysToReadAgain: 0) == (3, 4))
        // A run after more than a week reads all of it anyway.
        #expect(try await items(nightly, lastRunHoursAgo: 240, daysToReadAgain: 0) == (11, 4))
        #expect(try await items("notificationHistory: {scope: app, startDate: lastRun, overlap: 2d}") == (6, 6))
        #expect(try await items("notificationHistory: {scope: app, startDate: -7d}", daysToReadAgain: 0) == (2, 3))
        #expect(try await items(nightly, daysToReadAgain: 0, environment: "Sandbox") == (2, 3))
        #expect(try await items("notificationHistory: {scope: transactions}") == (5, nil))
    }

    @Test func `refunds of the revoked are at most one request an ID`() async throws {
        let job = try await Self.job("transactionHistory: {}", "refundHistory: {for: revoked}")
        let estimate = PlanEstimate(job: job, transactionIds: 10, now: Self.midnight, lastRun: nil)
        #expect(estimate.streams.map(\.isUpperBound) == [false, true])
    }

    @Test func `refunds of the revoked come after the rest, so their time is added`() async throws {
        let job = try await Self.job(
            "transactionHistory: {}",
            "refundHistory: {for: revoked}",
            "notificationHistory: {scope: app, startDate: -7d}"
        )
        let estimate = PlanEstimate(job: job, transactionIds: 1_000_000, now: Self.midnight, lastRun: nil)
        #expect(estimate.atLimit == .seconds(120_000) && estimate.atShare == .seconds(240_000))
        #expect(estimate.isUpperBound)
    }
}
