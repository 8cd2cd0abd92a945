import AppStoreModel
import Crawl
import Pipeline
import Streams
import Testing

@testable import CommandLineTool

/// The progress bar at its limits.
struct ProgressBarTests {
    @Test(
        arguments: [
            (0, 0, 0), (0, 10, 0), (5, 10, 14), (10, 10, 28), (11, 10, 28), (3, 0, 0), (-1, 10, 0),
            (1 << 40, 1 << 40, 28), (.max, 10, 28),
        ] as [(Int64, Int64, Int)]
    )
    func `a bar never leaves its frame`(done: Int64, total: Int64, filled: Int) {
        let text = ProgressBar(done: done, total: total).text
        #expect(text.count == 28)
        #expect(text.count { $0 == "█" } == filled)
    }

    @Test func `a bar says until when an endpoint waits for its limit, and no longer than that`() {
        let moment = UnixMilliseconds(rawValue: 1_795_348_800_000)
        var state = ProgressState(began: .zero)
        let refunds = RunProgress.Stream(.refundHistory, items: 10, done: 0, requestsPerSecond: 10)
        state.note(.counted(RunProgress(phases: [[refunds]], concurrency: 8)), at: .zero, wall: moment)
        let closing = CrawlEvent.stalled(.refundHistory, for: .seconds(40), until: moment + .seconds(40))
        state.note(.crawl(closing), at: .zero, wall: moment)
        let words = "refundHistory waits for its limit until 12:00:40 UTC"
        #expect(state.bar(at: .seconds(1), wall: moment, columns: 120).hasSuffix(" · " + words))
        #expect(state.plain(at: .seconds(1), wall: moment).hasSuffix(", " + words))
        #expect(!state.bar(at: .seconds(41), wall: moment + .seconds(40), columns: 120).contains("waits"))
    }
}
