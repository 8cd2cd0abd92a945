import Actions
import AppStoreModel
import Testing

@testable import CommandLineTool

/// The progress of `actions run`.
struct ActionProgressTests {
    private static let wall = RecordedCrawl.wallClock

    /// 600 of 2,000 rows were sent before, and 100 in the last ten seconds.
    private static func progress() -> ActionProgress {
        var progress = ActionProgress(began: .zero)
        progress.note(.began(rows: 2_000, done: 600), at: .zero, wall: wall)
        for row in 1...100 {
            let state: RowState = row == 50 ? .rejected : row == 60 ? .unknown : .succeeded
            progress.note(.ended(position: Int64(row), state: state), at: .milliseconds(row * 100), wall: wall)
        }
        return progress
    }

    @Test func `a line says how many rows are done, their outcomes, how fast it is and how long it takes`() {
        let line = Self.progress().plain(at: .seconds(10), wall: Self.wall)
        #expect(line == "700 of 2000 rows, 98 succeeded, 1 rejected, 1 unknown, 10.0 rows/s, 2 min left", "\(line)")
    }

    @Test func `rows that other processes have sent count as done, and never twice`() {
        var progress = Self.progress()
        progress.note(.counted(done: 650), at: .seconds(10), wall: Self.wall)
        #expect(progress.plain(at: .seconds(10), wall: Self.wall).hasPrefix("700 of 2000 rows"))
        progress.note(.counted(done: 1_999), at: .seconds(10), wall: Self.wall)
        for row: Int64 in 1...5 {
            progress.note(.ended(position: row, state: .succeeded), at: .seconds(11), wall: Self.wall)
        }
        #expect(progress.plain(at: .seconds(11), wall: Self.wall).hasPrefix("2000 of 2000 rows"))
        // The next batch begins where this one has ended.
        progress.note(.began(rows: 500, done: 0), at: .seconds(12), wall: Self.wall)
        #expect(progress.plain(at: .seconds(12), wall: Self.wall).hasPrefix("2000 of 2500 rows"))
    }

    @Test(arguments: [7, 20, 40, 80, 200])
    func `the bar fits the terminal, and says what it waits for`(columns: Int) {
        var progress = Self.progress()
        progress.note(.stalled(StreamName("extendRenewalDate"), for: .seconds(40)), at: .seconds(10), wall: Self.wall)
        let line = progress.bar(at: .seconds(10), wall: Self.wall, columns: columns)
        #expect(line.count < columns, "\(line)")
        #expect(line.contains("700/2000") == (columns >= 20), "\(line)")
        #expect(
            line.contains("extendRenewalDate waits for its limit until 11:07:20 UTC") == (columns == 200),
            "\(line)"
        )
    }

    @Test func `a JSON line has the counts of this process`() {
        let line = Self.progress().json(at: .seconds(10))
        for part in [
            #""event":"progress""#, #""rowsDone":700"#, #""rowsTotal":2000"#, #""succeeded":98"#, #""rejected":1"#,
        ] {
            #expect(line.contains(part), "\(line)")
        }
    }
}
