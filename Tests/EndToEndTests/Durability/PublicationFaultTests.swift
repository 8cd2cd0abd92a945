import FoundationEssentials
import TestSupport
import Testing

/// A publication whose calls to the system fail.
///
/// Whatever fails, each file in the directory is complete, and an existing manifest describes them.
@Suite(
    .migratedDatabase,
    .enabled(Comment(rawValue: Shim.missing)) { await PublicationShim.isPossible }
)
struct PublicationFaultTests {
    private static let names = Publisher.tables.map { "\($0).csv" } + ["manifest.json"]

    /// Expects a publication that failed to have left what was there, or whole files without a manifest.
    private func expectUnharmed(
        _ publisher: Publisher,
        _ reader: PublicationReader,
        _ export: Publisher.Export,
        _ comment: String
    ) throws {
        #expect(export.outcome.errorLines.count == 1, "\(comment): \(export.outcome.errors)")
        #expect(export.outcome.output == "", "\(comment)")
        let complaint = try reader.complaint(about: publisher.directory)
        #expect(complaint == nil, "\(comment): \(complaint ?? "")")
        // What cannot be removed has a name by which the next publication knows it.
        let left = try publisher.files().keys.filter { !Self.names.contains($0) }
        #expect(left.isEmpty || comment.hasPrefix("unlink"), "\(comment): \(left)")
        #expect(left.allSatisfy { $0.hasSuffix(".storeledger-tmp") }, "\(comment): \(left)")
    }

    @Test func `K07 a disk that is full after any 4 KiB is 74 and leaves the publication before`() async throws {
        try await Publisher.with { publisher in
            let before = try publisher.files()
            let good = try await publisher.export()
            let after = try publisher.files()
            let reader = try await publisher.reader(of: [before, after])
            let total = good.operations.reduce(0) { if case .write(_, let count) = $1 { $0 + count } else { $0 } }
            let header = (after["transactions.csv"]?.firstIndex(of: 13) ?? 0) + 2
            let steps = Array(stride(from: 0, to: total, by: 4_096)) + [1, header, header + 1, total - 1]
            #expect(steps.count > 30)
            for space in steps {
                try publisher.restore(before)
                let export = try await publisher.export(space: space)
                #expect(export.outcome.code == 74, "\(space) bytes: \(export.outcome.errors)")
                #expect(export.outcome.errors.contains("No space left on device"), "\(space) bytes")
                #expect(try publisher.files() == before, "\(space) bytes")
                try expectUnharmed(publisher, reader, export, "\(space) bytes")
            }
            let enough = try await publisher.export(space: total + 8)
            #expect(enough.outcome.code == 0)
            print("K07: full after \(steps.count) different numbers of bytes of \(total)")
        }
    }

    @Test func `K08 K10 each call of a publication fails once, or from then on, and nothing is half there`()
        async throws
    {
        try await Publisher.with { publisher in
            let before = try publisher.files()
            _ = try await publisher.export()
            let after = try publisher.files()
            let reader = try await publisher.reader(of: [before, after])
            var runs = 0
            /// Publishes with a fault; `false` when nothing noticed it.
            func fails(_ fault: String) async throws -> Bool {
                try publisher.restore(before)
                let export = try await publisher.export(faults: fault)
                runs += 1
                if export.outcome.code == 0 {
                    // Only the manifest tells another moment.
                    let files = try publisher.files().merging(["manifest.json": Data()]) { $1 }
                    #expect(files == after.merging(["manifest.json": Data()]) { $1 }, "\(fault)")
                    return false
                }
                #expect([73, 74].contains(export.outcome.code), "\(fault): \(export.outcome.errors)")
                try expectUnharmed(publisher, reader, export, fault)
                expectNeverTrusted(export, fault)
                return true
            }
            // EIO, ENOSPC, EDQUOT, EACCES, EXDEV, EROFS.
            let errors = [
                "create": [28, 13, 30], "write": [5, 28, 122], "fsync": [5, 28, 122], "read": [5],
                "rename": [18, 13, 30],
            ]
            for (call, numbers) in errors.sorted(by: { $0.key < $1.key }) {
                // Each one of its kind, until there is no further one.
                for persistence in call == "fsync" || call == "rename" ? ["", "+"] : [""] {
                    var place = 1
                    while try await fails("\(call):\(place):\(numbers[0])\(persistence)") { place += 1 }
                    #expect(place >= 4, "\(call)\(persistence)")
                }
                for number in numbers.dropFirst() { #expect(try await fails("\(call):1:\(number)+")) }
            }
            // Neither the old manifest nor any other file can be removed.
            for fault in ["unlink:4:30", "unlink:4:13"] { #expect(try await fails(fault), "\(fault)") }
            #expect(try await fails("unlink:1:30+"))
            print("K08, K10: \(runs) publications, each with another call that failed")
        }
    }

    /// A file whose fsync failed is given up: no second fsync, no place under its name.
    private func expectNeverTrusted(_ export: Publisher.Export, _ comment: String) {
        guard let failed = export.calls.firstIndex(where: { $0.call == "fsync" && $0.result != 0 }) else { return }
        let name = export.calls[failed].name
        let later = export.calls[failed...].dropFirst().filter { $0.name == name || name == "." }
        #expect(!later.contains { $0.call == "fsync" || $0.call == "rename" }, "\(comment): \(later)")
    }

    @Test func `K08 an interrupted or short write is continued to the end`() async throws {
        try await Publisher.with { publisher in
            _ = try await publisher.export()
            let expected = try publisher.files().merging(["manifest.json": Data()]) { $1 }
            let faults = [
                "write:1:short", "write:1:short+", "write:1:4", "write:2:4", "write:1:4 write:2:short write:3:4",
                "read:1:short+", "read:1:4", "close:1:5+",
            ]
            for fault in faults {
                let export = try await publisher.export(faults: fault)
                #expect(export.outcome.code == 0, "\(fault): \(export.outcome.errors)")
                #expect(try publisher.files().merging(["manifest.json": Data()]) { $1 } == expected, "\(fault)")
            }
        }
    }

    @Test
    func `K07 a file larger than ulimit allows is 74, leaves the publication before, and does not keep the views back`()
        async throws
    {
        try await Publisher.with { publisher in
            let before = try publisher.files()
            let book = try publisher.stage.book()
            for command in ["export", "run --progress none"] {
                #expect(try await book.count("SELECT views_are_stale()::integer") == 1)
                let code = try await withChildProcess(
                    "/bin/sh",
                    ["-c", "ulimit -f 32; exec \"$0\" \(command) \"$1\"", Executables.storeledger, publisher.job],
                    environment: ["DATABASE_URL": publisher.stage.databaseURL()]
                ) { process in
                    let code = await process.wait()
                    #expect(process.errors.contains("File too large"), "\(process.errors)")
                    return code
                }
                #expect(code == 74, "\(command)")
                #expect(try publisher.files() == before)
            }
            #expect(try await book.count("SELECT views_are_stale()::integer") == 0)
        }
    }
}
