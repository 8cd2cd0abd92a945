import FoundationEssentials
import TestSupport
import Testing

/// How much memory a long list takes.
@Suite(.migratedDatabase)
struct MemoryTests {
    @Test(arguments: ["plan", "run"])
    func `C14 two hundred thousand IDs fit into 128 MB`(command: String) async throws {
        try await Stage.with(.init(customers: 2)) { stage in
            let ids = (0..<200_000).map { "\(430_000_000_000_000 + $0)\n" }.joined()
            try stage.write("transaction_id\n" + ids, to: "many.csv")
            var job = stage.job
            job.transactionIds = "csv: {path: many.csv, column: transaction_id}"
            let path = try await stage.migrated(job)
            let arguments =
                command == "run" ? ["run", path, "--max-duration", "3s", "--progress", "none"] : ["plan", path]

            let program = try await stage.measured(arguments)

            #expect(program.code == (command == "run" ? 75 : 0), "\(program.output)\(program.errors)")
            #expect((1..<128 * 1_024).contains(program.peak))
            if command == "plan" { #expect(program.output.contains("200000 transaction IDs")) }
        }
    }

    @Test func `twenty thousand receipts take no more memory than a hundred`() async throws {
        try await Stage.with(.init(customers: 100)) { stage in
            let text = try String(contentsOfFile: stage.store.directory + "/receipts.csv", encoding: .utf8)
            let rows = text.dropFirst("receipt\n".count)
            var job = stage.job
            job.transactionIds = "csv: {path: list.csv, column: receipt}"
            let path = try await stage.migrated(job)
            func plan(_ repetitions: Int) async throws -> MeasuredProgram {
                try stage.write("receipt\n" + String(repeating: String(rows), count: repetitions), to: "list.csv")
                return try await stage.measured(["plan", path])
            }

            let (few, many) = (try await plan(1), try await plan(200))

            for program in [few, many] { #expect(program.code == 0, "\(program.errors)") }
            let counts = [few, many].map { $0.output.prefix { $0 != "(" } }
            #expect(counts[0] == counts[1] && counts[0].hasSuffix(" transaction IDs "), "\(many.output)")
            #expect(many.errors.contains("200 rows with a receipt from Xcode are left out"), "\(many.errors)")
            #expect((1..<few.peak + 8 * 1_024).contains(many.peak), "\(few.peak) KiB for a hundred")
        }
    }
}
