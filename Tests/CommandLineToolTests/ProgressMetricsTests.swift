import AppStoreModel
import Basics
import Crawl
import FoundationEssentials
import Pipeline
import Streams
import TestSupport
import Testing

@testable import CommandLineTool

struct ProgressMetricsTests {
    private static let labels = [("app", "a"), ("job_name", "n")]
    private static let name = "storeledger_run_progress_timestamp_seconds"

    @Test func `the moment of the last progress is written at most once a minute, and only after progress`()
        async throws
    {
        try await withTemporaryDirectory { directory in
            let file = directory + "/a.prom"
            try Data("storeledger_last_exit_code{app=\"a\"} 0\n\(Self.name) 7\n".utf8).write(to: URL(filePath: file))
            let time = ManualTime()
            let metrics = ProgressMetrics(file: file, labels: [Self.labels], time: time.timekeeper)
            func moment() throws -> Int64? {
                let text = try String(contentsOfFile: file, encoding: .utf8)
                #expect(text.hasPrefix("storeledger_last_exit_code{app=\"a\"} 0\n"), "\(text)")
                let sample = try #require(
                    text.firstMatch(of: /\nstoreledger_run_progress.*\{app="a",job_name="n"\} (\d+)\n$/)
                )
                return Int64(sample.1)
            }
            let start = time.timekeeper.wallClock() / 1_000
            #expect(try moment() == start)

            time.advance(by: .seconds(59))
            metrics.note(.remark("x"), of: 0)
            metrics.writeIfDue()
            #expect(try moment() == start)
            time.advance(by: .seconds(1))
            metrics.writeIfDue()
            #expect(try moment() == start + 59)

            // Repeated requests and items of other processes are no progress.
            time.advance(by: .seconds(600))
            metrics.note(.crawl(.idle(until: nil)), of: 0)
            metrics.writeIfDue()
            #expect(try moment() == start + 59)

            // A wait for a limit is progress until the limit opens.
            let opening = UnixMilliseconds(rawValue: (start + 3_000) * 1_000)
            metrics.note(.crawl(.stalled(.transactionHistory, for: .seconds(2_000), until: opening)), of: 0)
            metrics.note(.remark("x"), of: 0)
            metrics.writeIfDue()
            #expect(try moment() == start + 3_000)
        }
    }

    @Test func `each app of a process has its own moment`() async throws {
        try await withTemporaryDirectory { directory in
            let file = directory + "/a.prom"
            let time = ManualTime()
            let metrics = ProgressMetrics(
                file: file,
                labels: [[("app", "a")], [("app", "b")]],
                time: time.timekeeper
            )
            let start = time.timekeeper.wallClock() / 1_000
            time.advance(by: .seconds(60))
            metrics.note(.remark("x"), of: 1)
            metrics.writeIfDue()
            let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
            #expect(lines.suffix(2) == ["\(Self.name){app=\"a\"} \(start)", "\(Self.name){app=\"b\"} \(start + 60)"])
        }
    }

    @Test func `without a metrics file nothing is written`() {
        let time = ManualTime()
        let metrics = ProgressMetrics(file: nil, labels: [[]], time: time.timekeeper)
        metrics.note(.remark("x"), of: 0)
        metrics.writeIfDue()
    }
}
