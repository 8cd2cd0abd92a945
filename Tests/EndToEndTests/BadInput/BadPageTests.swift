import FoundationEssentials
import TestSupport
import Testing

/// Pages that cannot be trusted, on their way through the whole of `storeledger`.
@Suite(.migratedDatabase)
struct BadPageTests {
    struct Group: CustomTestStringConvertible, Sendable {
        let pages: [BadPage]
        var testDescription: String { Set(pages.map(\.id)).sorted().joined(separator: " ") }
    }

    @Test(arguments: [BadPage.notJSON, BadPage.notPages, BadPage.odd].map(Group.init))
    func `a page that cannot be trusted is requested again, and then fails its item, whose cursor stays`(
        group: Group
    ) async throws {
        let scenes = try RecordStage.scenes(group.pages.count)
        try await RecordStage.with(scenes, pages: zip(group.pages, scenes).map { $0.body($1) }) { stage, path in
            let fails = group.pages.contains { $0.outcome.hasPrefix("failed") }
            try await stage.run(path, expecting: fails ? 2 : 0)
            let book = try stage.book()
            let arrivals = try await stage.store.requests().arrivals
            for (page, scene) in zip(group.pages, scenes) {
                let found = try await book.column(
                    """
                    SELECT concat_ws(' ', state, coalesce(cursor, '-'), page_count,
                        (SELECT count(*) FROM transactions WHERE listed_transaction_id = item_key), records_rejected)
                      FROM crawl_items WHERE item_key = '\(scene.item)'
                    """
                )
                let asked = arrivals.count { $0.transactionId == scene.item }
                #expect(found.map { "\($0) | \(asked)" } == [page.outcome], "\(page.id): \(page.note)")
            }
        }
    }

    @Test(arguments: [("bundleId", "com.example.other"), ("environment", "Sandbox")])
    func `N29 a page for another app or environment ends the run with 78`(member: String, value: String) async throws {
        let scenes = try RecordStage.scenes(1)
        let page =
            "{\"revision\":\"r\",\"hasMore\":false,\"\(member)\":\"\(value)\",\"signedTransactions\":[\"\(scenes[0].good)\"]}"
        try await RecordStage.with(scenes, pages: [page]) { stage, path in
            let outcome = try await stage.storeledger("run", path, "--progress", "none")
            #expect(outcome.code == 78)
            #expect(outcome.errorLines.count == 1 && outcome.errors.contains(value), "\(outcome.errors)")
            let book = try stage.book()
            #expect(try await book.count("SELECT count(*) FROM transactions") == 0)
            #expect(try await book.column("SELECT state || coalesce(cursor, '-') FROM crawl_items") == ["waiting-"])
        }
    }

    @Test func `J59 JF08 hostile words in a signed record reach the CSV cell whole, and no message and no file name`()
        async throws
    {
        let scenes = try RecordStage.scenes(1)
        let scene = scenes[0]
        let hostile = [
            try scene.signed([
                "productId": #""\u001b[2Jx\nlevel=error\u202e""#, "type": #""\u001b[2Jx\nlevel=error\u202e""#,
                "price": #""\u001b[2J\u202e""#,
            ]),
            try scene.signed(["transactionId": "\"\(scene.item)03\"", "productId": #""../../x""#]),
            try scene.signed(["transactionId": "\"\(scene.item)04\"", "bundleId": #""\u001b[2J\n\u202e""#]),
        ]
        let records = ([scene.good] + hostile).map { "\"\($0)\"" }.joined(separator: ",")
        let page = "{\"revision\":\"r\",\"hasMore\":false,\"signedTransactions\":[\(records)]}"
        try await RecordStage.with(scenes, pages: [page], csv: "{directory: out, tables: [transactions]}") {
            stage,
            path in
            let run = try await stage.storeledger("run", path, "--progress", "json")
            #expect(run.code == 2)
            let status = try await stage.storeledger("status", path)
            for text in [run.output, run.errors, status.output, status.errors] {
                #expect(!text.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || $0 == "\u{202E}" }, "\(text)")
                #expect(!text.split(separator: "\n").contains { $0.hasPrefix("level=error") }, "\(text)")
            }
            let out = stage.store.directory + "/out"
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: out).sorted() == [
                    "manifest.json", "transactions.csv",
                ]
            )
            let csv = try String(contentsOfFile: out + "/transactions.csv", encoding: .utf8)
            #expect(csv.contains("\"\u{1B}[2Jx\nlevel=error\u{202E}\""))
            #expect(csv.contains("\"../../x\""))
            let rejected = try await stage.book().column("SELECT detail FROM rejected_records")
            #expect(rejected.count == 1)
            #expect(rejected.allSatisfy { !$0.unicodeScalars.contains { $0.value < 0x20 || $0 == "\u{202E}" } })
        }
    }
}
