import ActionKinds
import JobFiles
import StrictJSON
import Testing

@testable import Actions

/// The hash that an approval names.
struct BatchDigestTests {
    private func digest(_ rows: [[UInt8]?], of job: ActionJob) -> String {
        var digest = BatchDigest(of: job)
        for (place, row) in rows.enumerated() { digest.add(Int64(place + 1), row) }
        return digest.finish()
    }

    private func row(_ id: String, days: Int64 = 7) -> ActionParameters {
        ActionParameters([
            ("original_transaction_id", .text(id)), ("extend_by_days", .integer(days)),
            ("extend_reason_code", .integer(3)),
        ])
    }

    @Test func `every value, the order, an invalid row, the job, the app and the action change the hash`() throws {
        let job = try TestJob.of()
        let rows = [row("1").bytes, row("2").bytes]
        let hash = digest(rows, of: job)
        #expect(hash.count == 64 && digest(rows, of: job) == hash)
        let others = [
            digest(rows.reversed(), of: job), digest([rows[0]], of: job), digest([rows[0], nil], of: job),
            digest([rows[0], row("2", days: 8).bytes], of: job), digest(rows + [nil], of: job),
            digest(rows, of: try TestJob.of(name: "another")),
            digest(rows, of: try TestJob.of("setAppAccountToken: {}")),
        ]
        #expect(Set(others + [hash]).count == others.count + 1)
    }

    @Test func `values that PostgreSQL has stored in another order have the same bytes`() throws {
        // jsonb sorts its members by length and then by bytes, and adds spaces.
        let stored = #"{"extend_by_days": 7, "extend_reason_code": 3, "original_transaction_id": "1"}"#
        let read = ActionParameters(
            try StrictJSON.parseObject(Array(stored.utf8)),
            columns: ExtendRenewalDate.columns
        )
        #expect(read == row("1") && read.bytes == row("1").bytes)
    }

    @Test func `every state of a row belongs to one result file, and only a known success to succeeded`() {
        let files = Dictionary(grouping: RowState.allCases, by: \.file)
        #expect(files.values.map(\.count).reduce(0, +) == RowState.allCases.count)
        #expect(files[.succeeded] == [.succeeded] && files[.rejected] == [.rejected])
        #expect(files[.unknown].map(Set.init) == [.sending, .unknown, .confirming])
        #expect(files[.unprocessed].map(Set.init) == [.planned, .approved, .notApplied, .skipped, .cancelled])
    }
}
