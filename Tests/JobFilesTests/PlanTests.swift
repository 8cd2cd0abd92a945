import AppStoreModel
import JobFiles
import Streams
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
    func `there are no windows when nothing is between`(milliseconds: Int64) {
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
    func `windows cover exactly the requested span, each within one day`(length: Int64) {
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

    @Test func `a request for everything that Apple has leaves no gap`() throws {
        let span = try Self.notifications("startDate: -180d").span(now: Self.midnight, lastRun: nil, in: .production)
        #expect(span.requested == (Self.midnight - Self.day * 180 + .seconds(600))..<Self.midnight)
        #expect(span.unreachable == nil)
    }

    @Test func `no request has a start so late that Apple refuses it`() throws {
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

    @Test func `a span wholly out of reach plans no request and is one gap`() throws {
        let span = try Self.notifications("startDate: -300d, endDate: -200d")
            .span(now: Self.midnight, lastRun: nil, in: .production)
        #expect(span.requested.isEmpty)
        #expect(span.unreachable == (Self.midnight - Self.day * 300)..<(Self.midnight - Self.day * 200))
    }
}
