import AppStoreModel
import Basics
import Crawl
import Pipeline
import Streams
import TestSupport
import Testing

@testable import CommandLineTool

/// The remaining time of a run.
struct TimeEstimateTests {
    struct Course: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let crawl: @Sendable () -> RecordedCrawl
    }

    private static func pages(_ count: Int, _ range: ClosedRange<Int>) -> [Int] {
        var random = SeededRandom(seed: 7)
        return (0..<count).map { _ in Int.random(in: range, using: &random) }
    }

    private static let one = 1...1

    @Test(arguments: [
        Course(testDescription: "streams with different limits") {
            RecordedCrawl([
                [
                    .init(stream: .transactionHistory, pages: pages(2_000, one), latency: 0.02, limit: 50),
                    .init(stream: .refundHistory, pages: pages(2_000, one), latency: 0.02, limit: 10),
                ]
            ])
        },
        Course(testDescription: "refunds of the one customer in twenty with a revocation") {
            RecordedCrawl([
                [
                    .init(
                        stream: .transactionHistory,
                        pages: pages(6_000, one),
                        latency: 0.02,
                        limit: 50,
                        revocationEvery: 20
                    )
                ],
                [
                    .init(
                        stream: .refundHistory,
                        pages: pages(300, one),
                        latency: 0.02,
                        limit: 5,
                        planning: .afterRevocations
                    )
                ],
            ])
        },
        Course(testDescription: "a limit that closes for 90 s") {
            RecordedCrawl([
                [
                    .init(
                        stream: .transactionHistory,
                        pages: pages(3_000, one),
                        latency: 0.02,
                        limit: 20,
                        closing: (50, 90)
                    )
                ]
            ])
        },
        Course(testDescription: "streams that share the workers") {
            RecordedCrawl([
                [
                    .init(stream: .transactionHistory, pages: pages(4_000, one), latency: 0.3, limit: 1_000),
                    .init(stream: .subscriptionStatuses, pages: pages(1_000, one), latency: 0.3, limit: 1_000),
                ]
            ])
        },
        Course(testDescription: "windows with many pages beside customers with few") {
            RecordedCrawl([
                [
                    .init(stream: .transactionHistory, pages: pages(3_000, 1...4), latency: 0.1, limit: 25),
                    .init(stream: .notificationHistory, pages: pages(12, 80...120), latency: 0.25, limit: 25),
                ]
            ])
        },
    ])
    func `after a minute the remaining time is right within a factor of 1.5`(course: Course) {
        let crawl = course.crawl()
        var estimate = TimeEstimate()
        var checked = 0
        var moment = 60.0
        for (at, event) in crawl.events {
            while at.inSeconds > moment, crawl.end - moment >= 10 {
                let left = estimate.timeLeft(at: .seconds(moment))?.duration.inSeconds ?? 0
                let factor = left / (crawl.end - moment)
                #expect((1 / 1.5...1.5).contains(factor), "\(left) s after \(moment) s of \(crawl.end) s")
                checked += 1
                moment += 10
            }
            let wall = RecordedCrawl.wallClock + at
            switch event {
            case .counted(let progress): estimate.note(progress)
            case .crawl(let event): estimate.note(event, at: at, wall: wall)
            default: break
            }
        }
        #expect(checked >= 3, "the crawl took \(crawl.end) s")
    }

    private static func progress(_ streams: [[RunProgress.Stream]]) -> TimeEstimate {
        var estimate = TimeEstimate()
        estimate.note(RunProgress(phases: streams, concurrency: 4))
        return estimate
    }

    @Test func `before the first page the remaining time is what plan says`() {
        let estimate = Self.progress([
            [
                .init(.transactionHistory, items: 1_000, done: 0, requestsPerSecond: 25, isOfCustomers: true),
                .init(.notificationHistory, items: 10, done: 0, requestsPerSecond: 25),
            ],
            [.init(.refundHistory, items: 0, done: 0, requestsPerSecond: 5, planning: .afterRevocations)],
        ])
        // 40 s of histories, and refunds of all 1,000 customers.
        let left = estimate.timeLeft(at: .seconds(1))
        #expect(left == .init(duration: .seconds(240), isMinimum: false))
    }

    @Test func `customers that notifications have yet to name make the remaining time a minimum`() {
        let estimate = Self.progress([
            [.init(.notificationHistory, items: 50, done: 0, requestsPerSecond: 5)],
            [.init(.transactionHistory, items: 0, done: 0, requestsPerSecond: 5, planning: .afterNotifications)],
        ])
        #expect(estimate.timeLeft(at: .seconds(1)) == .init(duration: .seconds(10), isMinimum: true))
        var state = ProgressState(began: .zero)
        let phases: [[RunProgress.Stream]] = [
            [.init(.notificationHistory, items: 50, done: 0, requestsPerSecond: 5)],
            [.init(.transactionHistory, items: 0, done: 0, requestsPerSecond: 5, planning: .afterNotifications)],
        ]
        state.note(
            .counted(RunProgress(phases: phases, concurrency: 4)),
            at: .zero,
            wall: RecordedCrawl.wallClock
        )
        #expect(state.plain(at: .seconds(1), wall: RecordedCrawl.wallClock).hasSuffix(", at least 10 s left"))
        #expect(state.json(at: .seconds(1)).contains("\"secondsLeftAtLeast\":10"))
        #expect(!state.json(at: .seconds(1)).contains("\"secondsLeft\""))
    }

    @Test func `what other processes finish counts, and makes the rest as fast as they all are`() {
        var estimate = TimeEstimate()
        let progress = { (done: Int64) in
            let stream = RunProgress.Stream(.transactionHistory, items: 900, done: done, requestsPerSecond: 1_000)
            return RunProgress(phases: [[stream]], concurrency: 1)
        }
        estimate.note(progress(0))
        // This process ends an item a second, and the two others do the same.
        for second in 1...60 {
            let item = WorkItem(
                stream: .transactionHistory,
                key: "\(second)",
                epoch: 1,
                pageSequence: 1,
                cursor: nil,
                window: nil,
                pageCount: 1
            )
            let outcome = PageOutcome(
                item: item,
                rowsNew: 1,
                rowsUpdated: 0,
                rowsUnchanged: 0,
                rejected: [],
                newlyRejected: []
            )
            let now = Duration.seconds(second)
            estimate.note(.committed(outcome, requests: 1), at: now, wall: RecordedCrawl.wallClock)
            estimate.note(.finished(item), at: now, wall: RecordedCrawl.wallClock)
        }
        estimate.note(progress(180))
        #expect(estimate.done == 180)
        let left = estimate.timeLeft(at: .seconds(60))?.duration.inSeconds ?? 0
        #expect(abs(left - 240) < 1, "\(left)")
    }
}
