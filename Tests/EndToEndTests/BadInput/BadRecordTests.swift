import TestSupport
import Testing

/// Every bad record that docs/evidence/bad-inputs.md names, on its way through the whole of `storeledger`: HTTP, strict JSON,
/// signature, chain, rows, PostgreSQL.
@Suite(.migratedDatabase)
struct BadRecordTests {
    @Test(arguments: BadRecordGroup.all)
    func `a bad record costs itself, and its page is committed with the rest and the cursor`(group: BadRecordGroup)
        async throws
    {
        let listener = try SilentListener()
        let scenes = try RecordStage.scenes(group.cases.count, trap: "http://127.0.0.1:\(listener.port)/keys")
        let pages = try zip(group.cases, scenes).map { bad, scene in
            let elements = [BadRecord.quoted(scene.good)] + (try bad.elements(scene))
            return #"{"revision":"r-\#(scene.item)","hasMore":false,"bundleId":"com.example.game","#
                + #""environment":"Production","signedTransactions":[\#(elements.joined(separator: ","))]}"#
        }
        try await RecordStage.with(scenes, pages: pages) { stage, path in
            let isComplete = group.cases.allSatisfy { $0.reason == nil }
            let outcome = try await stage.run(path, expecting: isComplete ? 0 : 2)

            #expect(outcome.output.contains("rejected           \(group.cases.count { $0.reason != nil })\n"))
            #expect(try await stage.store.requests().total == group.cases.count)
            let book = try stage.book()
            for (bad, scene) in zip(group.cases, scenes) {
                let item = scene.item
                let found = try await book.column(
                    """
                    SELECT concat_ws(' | ', i.state, i.cursor, i.page_count,
                        (SELECT count(*) FROM transactions WHERE transaction_id = item_key || '01'),
                        (SELECT count(*) FROM transactions WHERE listed_transaction_id = item_key) - 1,
                        (SELECT count(*) FROM transactions WHERE transaction_id = item_key || '02' AND (\(bad.row))),
                        (SELECT coalesce(string_agg(reason, ' '), '-') FROM rejected_records r WHERE r.item_key = i.item_key),
                        (SELECT coalesce(string_agg(path, ' '), '-') FROM field_issues WHERE record_key LIKE i.item_key || '%'))
                      FROM crawl_items i WHERE item_key = '\(item)'
                    """
                )
                let issues = bad.issues.isEmpty ? "-" : bad.issues.joined(separator: " ")
                let expected =
                    "done | r-\(item) | 1 | 1 | \(bad.loaded) | \(bad.loaded) | \(bad.reason ?? "-") | \(issues)"
                #expect(found == [expected], "\(bad.id): \(bad.note)")
            }
        }
        #expect(listener.connectionsSinceLastCall() == 0, "J08: the URL of a key in a record was requested")
    }
}
