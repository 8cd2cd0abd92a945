import AppStoreModel
import JobPlan
import Testing

@Suite struct PlanTests {
    static let midnight = UnixMilliseconds(rawValue: 1_767_225_600_000)
    static let day = Duration.seconds(86_400)

    @Test func `windows are cut at UTC midnights, without a gap or an overlap`() {
        let start = Self.midnight - .seconds(3_600)
        let end = Self.midnight + Self.day + .milliseconds(1)
        let windows = NotificationWindows.slices(from: start, to: end)

        #expect(
            windows == [
                start..<Self.midnight, Self.midnight..<(Self.midnight + Self.day), (Self.midnight + Self.day)..<end,
            ]
        )
    }

    @Test(arguments: [0, -1, -86_400_000] as [Int64])
    func `there are no windows when nothing lies between`(milliseconds: Int64) {
        let end = UnixMilliseconds(rawValue: Self.midnight.rawValue + milliseconds)
        #expect(NotificationWindows.slices(from: Self.midnight, to: end).isEmpty)
    }

    @Test func `windows before 1970 are cut at midnights too`() {
        let windows = NotificationWindows.slices(
            from: UnixMilliseconds(rawValue: -86_400_001),
            to: UnixMilliseconds(rawValue: 1)
        )
        #expect(windows.map(\.lowerBound.rawValue) == [-86_400_001, -86_400_000, 0])
    }

    @Test(arguments: [1, 59_999, 86_399_999, 86_400_000, 86_400_001, 15_552_000_000] as [Int64])
    func `windows cover exactly what was asked, each within one day`(length: Int64) {
        let start = Self.midnight + .milliseconds(12_345)
        let windows = NotificationWindows.slices(from: start, to: start + .milliseconds(length))
        #expect(windows.map { $0.upperBound - $0.lowerBound }.reduce(.zero, +) == .milliseconds(length))
        #expect(windows.allSatisfy { $0.upperBound - $0.lowerBound <= Self.day })
        #expect(zip(windows, windows.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
    }

    static func notifications(_ filters: String) throws -> RequestedDates {
        let job = try StreamTests.load("notificationHistory: {scope: app, \(filters)}")
        return try #require(job.streams[NotificationHistory.self]).requestedDates
    }

    @Test func `lastRun without an earlier run reaches back as far as Apple does`() throws {
        let stream = try Self.notifications("startDate: lastRun")
        let first = stream.span(now: Self.midnight, lastRun: nil, in: .sandbox)
        let oldest = Self.midnight - Self.day * 30 + .seconds(600)
        #expect(first.requested == oldest..<Self.midnight && first.unreachable == nil)
        let later = stream.span(now: Self.midnight, lastRun: Self.midnight - Self.day, in: .sandbox)
        #expect(later.requested == (Self.midnight - Self.day)..<Self.midnight)
    }

    @Test func `JF17 a start 200 days ago is clamped and leaves a gap`() throws {
        let span = try Self.notifications("startDate: -200d").span(now: Self.midnight, lastRun: nil, in: .production)
        let oldest = Self.midnight - Self.day * 180 + .seconds(600)
        #expect(span.requested == oldest..<Self.midnight)
        #expect(span.unreachable == (Self.midnight - Self.day * 200)..<oldest)
    }

    @Test func `who asks for as much as Apple has is short of nothing`() throws {
        let span = try Self.notifications("startDate: -180d").span(now: Self.midnight, lastRun: nil, in: .production)
        #expect(span.requested == (Self.midnight - Self.day * 180 + .seconds(600))..<Self.midnight)
        #expect(span.unreachable == nil)
    }

    @Test func `a start is never asked for so late that Apple refuses it`() throws {
        let reach = Self.midnight - Self.day * 180
        let oldest = AppStoreEnvironment.production.oldestNotification(at: Self.midnight)
        for (minutes, gap) in [(-1, reach - .seconds(60)), (0, nil), (9, nil), (10, nil), (11, nil)] {
            let start = reach + .seconds(minutes * 60)
            let stream = try Self.notifications("startDate: lastRun")
            let span = stream.span(now: Self.midnight, lastRun: start, in: .production)
            #expect(span.requested == max(start, oldest)..<Self.midnight, "\(minutes) minutes inside")
            #expect(span.unreachable == gap.map { $0..<oldest }, "\(minutes) minutes inside")
        }
    }

    @Test func `an end at the edge leaves nothing to ask for`() throws {
        let stream = try Self.notifications("startDate: -4321h, endDate: -180d")
        let span = stream.span(now: Self.midnight, lastRun: nil, in: .production)
        #expect(span.requested.isEmpty)
        #expect(span.unreachable == (Self.midnight - .seconds(4_321 * 3_600))..<(Self.midnight - Self.day * 180))
    }

    @Test func `JF17 an end in the future is frozen to now`() throws {
        let stream = try Self.notifications("startDate: -1d, endDate: 2030-01-01T00:00:00Z")
        #expect(stream.span(now: Self.midnight, lastRun: nil, in: .production).requested.upperBound == Self.midnight)
    }

    @Test func `a span wholly out of reach asks for nothing and is one gap`() throws {
        let span = try Self.notifications("startDate: -300d, endDate: -200d")
            .span(now: Self.midnight, lastRun: nil, in: .production)
        #expect(span.requested.isEmpty)
        #expect(span.unreachable == (Self.midnight - Self.day * 300)..<(Self.midnight - Self.day * 200))
    }

    @Test func `the estimate is as long as the slowest stream`() throws {
        let job = try StreamTests.load(
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

    @Test func `a later run asks for the time since, failed deliveries, and days that are due once more`() throws {
        func items(
            _ streams: String,
            hoursSinceMidnight hours: Int64 = 4,
            lastRunHoursAgo: Int64 = 24,
            daysToReadAgain: Int = 1,
            environment: String = "Production"
        ) throws -> (items: Int, nightly: Int?) {
            let job = try JobText.load(
                JobText.usual.replacing("  transactionHistory: {}", with: "  \(streams)")
                    .replacing("environment: Production", with: "environment: \(environment)")
            )
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
        #expect(try items(nightly) == (4, 4))
        #expect(try items(nightly, daysToReadAgain: 100) == (103, 4))
        #expect(try items(nightly, hoursSinceMidnight: 23, lastRunHoursAgo: 2) == (3, 4))
        // The overlap of an hour reaches over midnight.
        #expect(try items(nightly, hoursSinceMidnight: 2, lastRunHoursAgo: 1, daysToReadAgain: 0) == (2, 4))
        #expect(try items(nightly, hoursSinceMidnight: 1, lastRunHoursAgo: 1, daysToReadAgain: 0) == (3, 4))
        // A run after more than a week reads all of it anyway.
        #expect(try items(nightly, lastRunHoursAgo: 240, daysToReadAgain: 0) == (11, 4))
        #expect(try items("notificationHistory: {scope: app, startDate: lastRun, overlap: 2d}") == (6, 6))
        #expect(try items("notificationHistory: {scope: app, startDate: -7d}", daysToReadAgain: 0) == (2, 3))
        #expect(try items(nightly, daysToReadAgain: 0, environment: "Sandbox") == (2, 3))
        #expect(try items("notificationHistory: {scope: transactions}") == (5, nil))
    }

    @Test func `refunds of the revoked are at most one request an ID`() throws {
        let job = try StreamTests.load("transactionHistory: {}", "refundHistory: {for: revoked}")
        let estimate = PlanEstimate(job: job, transactionIds: 10, now: Self.midnight, lastRun: nil)
        #expect(estimate.streams.map(\.isUpperBound) == [false, true])
    }

    @Test func `refunds of the revoked come after the rest, so their time is added`() throws {
        let job = try StreamTests.load(
            "transactionHistory: {}",
            "refundHistory: {for: revoked}",
            "notificationHistory: {scope: app, startDate: -7d}"
        )
        let estimate = PlanEstimate(job: job, transactionIds: 1_000_000, now: Self.midnight, lastRun: nil)
        #expect(estimate.atLimit == .seconds(120_000) && estimate.atShare == .seconds(240_000))
        #expect(estimate.isUpperBound)
    }
}
