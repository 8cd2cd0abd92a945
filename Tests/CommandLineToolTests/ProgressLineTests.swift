import AppStoreModel
import Basics
import Crawl
import Pipeline
import RateLimit
import Streams
import Testing

@testable import CommandLineTool

/// The line of the progress bar, and where it is shown.
struct ProgressLineTests {
    private static let wall = RecordedCrawl.wallClock

    private static func state() -> ProgressState {
        var state = ProgressState(began: .zero)
        let stream = RunProgress.Stream(.transactionHistory, items: 1_000_000, done: 123_456, requestsPerSecond: 25)
        state.note(.counted(RunProgress(phases: [[stream]], concurrency: 8)), at: .zero, wall: wall)
        let stall = CrawlEvent.stalled(.transactionHistory, for: .seconds(40), until: wall + .seconds(40))
        state.note(.crawl(stall), at: .zero, wall: wall)
        return state
    }

    @Test(arguments: [1, 7, 20, 40, 41, 60, 80, 100, 132, 400])
    func `the bar fits the terminal`(columns: Int) {
        let line = Self.state().bar(at: .seconds(1), wall: Self.wall, columns: columns)
        #expect(line.count < max(columns, 2), "\(line)")
        #expect(line.contains("123456/1000000") == (columns >= 40), "\(line)")
        #expect(line.contains(" left") == (columns >= 40), "\(line)")
    }

    @Test func `a wide terminal shows everything, and a narrow one the same in fewer words`() {
        let state = Self.state()
        let wide = state.bar(at: .seconds(1), wall: Self.wall, columns: 200)
        #expect(wide.hasSuffix("transactionHistory waits for its limit until 11:07:20 UTC"), "\(wide)")
        #expect(wide.contains(" 123456/1000000 items · 0 rows · 0.0/s · 9 h 45 min left · "), "\(wide)")
        let narrow = state.bar(at: .seconds(1), wall: Self.wall, columns: 80)
        #expect(narrow.hasSuffix("9 h 45 min left · limit until 11:07:20"), "\(narrow)")
    }

    @Test(arguments: [
        (ProgressForm.auto, true, true, ProgressForm.bar), (.auto, true, false, .plain), (.auto, false, false, .none),
        (.bar, true, true, .bar), (.bar, true, false, .plain), (.bar, false, false, .plain),
        (.plain, true, true, .plain), (.json, false, false, .json), (.none, true, true, .none),
    ])
    func `a bar needs a terminal that understands escape codes`(
        form: ProgressForm,
        isTerminal: Bool,
        isCapable: Bool,
        shown: ProgressForm
    ) {
        #expect(form.resolved(isTerminal: isTerminal, isCapable: isCapable) == shown)
    }

    @Test func `JSON logs have the lines of plain as events, and never a bar`() {
        #expect(ProgressForm.allCases.map { $0.combined(with: .json) } == [.auto, .plain, .plain, .json, .none])
        #expect(ProgressForm.allCases.map { $0.combined(with: .plain) } == ProgressForm.allCases)
    }

    @Test(arguments: [(nil, false), ("", false), ("dumb", false), ("xterm-256color", true)] as [(String?, Bool)])
    func `an unset or dumb TERM understands no escape codes`(name: String?, isCapable: Bool) {
        #expect(Terminal.isCapable(named: name) == isCapable)
    }
}
