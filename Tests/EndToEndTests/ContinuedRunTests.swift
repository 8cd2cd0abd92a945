import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// Work that one invocation leaves and another one finds.
@Suite(.migratedDatabase)
struct ContinuedRunTests {
    private static let slow = """
        {concurrency: 2, share: 1,
           requestsPerSecond: {transactionHistory: 1, refundHistory: 1, notificationHistory: 1}}
        """
    private static let unknown =
        #"{"rules": [{"endpoint": "transactionHistory", "fault": "status", "status": 404, "errorCode": 4040010, "errorMessage": "x"}]}"#

    private static func histories(_ stage: Stage) -> JobText {
        var job = stage.job
        job.streams = ["transactionHistory: {}"]
        return job
    }

    @Test func `a retry that is stopped with work left is continued by the next retry, on any machine`() async throws {
        try await Stage.with(.init(customers: 12, faults: Self.unknown)) { stage in
            var job = Self.histories(stage)
            let path = try await stage.migrated(job)
            try await stage.run(path, expecting: 2)
            try await stage.store.setFaults(#"{"rules": []}"#)

            let limits = job.limits
            job.limits = Self.slow
            try stage.write(job)
            let stopped = try await stage.storeledger("retry", path, "--max-duration", "1s", "--progress", "none")
            #expect(stopped.code == 75, "\(stopped)")
            job.limits = limits
            job.name = "elsewhere"
            let elsewhere = try stage.write(
                job.text.replacing("name: elsewhere", with: "name: nightly"),
                to: "elsewhere.yaml"
            )
            let continued = try await stage.storeledger("retry", elsewhere, "--progress", "none")

            #expect(continued.code == 0, "\(continued)")
            #expect(continued.output.contains("items              12 (12 done, 0 failed)"), "\(continued)")
            let book = try stage.book()
            #expect(try await book.count("SELECT count(*) FROM crawl_items WHERE state <> 'done'") == 0)
            #expect(try await book.count("SELECT count(*) FROM runs") == 2)
            let none = try await stage.storeledger("retry", path, "--progress", "none")
            #expect(none.output == "nightly: no item has failed, so there is nothing to retry\n")
        }
    }

    @Test func `a whole run takes the place of a retry that was stopped`() async throws {
        try await Stage.with(.init(customers: 6, faults: Self.unknown)) { stage in
            var job = Self.histories(stage)
            let path = try await stage.migrated(job)
            try await stage.run(path, expecting: 2)
            try await stage.store.setFaults(#"{"rules": []}"#)
            let limits = job.limits
            job.limits = Self.slow
            try stage.write(job)
            #expect(try await stage.storeledger("retry", path, "--max-duration", "1s").code == 75)
            job.limits = limits
            try stage.write(job)
            let whole = try await stage.run(path)
            #expect(whole.output.contains("items              6 (6 done, 0 failed)"), "\(whole)")
        }
    }

    @Test func `a run is continued from another folder, and a changed list keeps what is finished`() async throws {
        try await Stage.with(.init(customers: 8)) { stage in
            var job = Self.histories(stage)
            job.limits = Self.slow
            let path = try await stage.migrated(job)
            try await stage.withStoreledger(["run", path, "--progress", "none"]) { process in
                try await stage.store.arrivals(3) { process.hasEnded }
                process.signal(SIGTERM)
                #expect(await process.wait() == 75)
            }
            let book = try stage.book()
            let done = try await book.column("SELECT item_key FROM crawl_items WHERE state = 'done' ORDER BY 1")
            try #require(!done.isEmpty)

            // The same list under another path joins the run.
            let copy = stage.store.directory + "/copy"
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
            try FileManager.default.copyItem(atPath: stage.store.directory + "/ids.csv", toPath: copy + "/ids.csv")
            job.transactionIds = "csv: {path: copy/ids.csv, column: transaction_id}"
            let other = try stage.write(job.text, to: "other.yaml")
            let joined = try await stage.storeledger("run", other, "--max-duration", "1s", "--progress", "none")
            #expect(joined.code == 75, "\(joined)")
            #expect(try await book.count("SELECT count(*) FROM runs") == 1)

            // Another source of IDs takes its place, and requests only what is left.
            let finished = try await book.column("SELECT item_key FROM crawl_items WHERE state = 'done' ORDER BY 1")
            let before = try await stage.store.requests().total
            let listed = try await book.column("SELECT item_key FROM crawl_items ORDER BY 1")
            job.transactionIds = "list: [\(listed.map { "\"\($0)\"" }.joined(separator: ", "))]"
            job.limits = stage.job.limits
            let last = try await stage.storeledger(
                "run",
                try stage.write(job.text, to: "last.yaml"),
                "--progress",
                "none"
            )
            #expect(last.code == 0, "\(last)")
            let asked = Set(try await stage.store.requests().arrivals.dropFirst(before).compactMap(\.transactionId))
            #expect(asked.isDisjoint(with: finished))
            #expect(asked.count + finished.count == 8)
            expectNone(try await book.differences(from: stage.store.world()).filter { $0.hasPrefix("transaction ") })
        }
    }

    @Test func `a second job file with the same name and other streams is refused with both paths`() async throws {
        try await Stage.with(.init(customers: 3)) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}"]
            let first = try await stage.migrated(job)
            try await stage.run(first)
            var other = job
            other.streams.append("refundHistory: {}")
            let second = try stage.write(other.text, to: "copy.yaml")
            let refused = try await stage.storeledger("run", second, "--progress", "none")
            #expect(refused.code == 78, "\(refused)")
            #expect(refused.errors.contains(first) && refused.errors.contains(second), "\(refused.errors)")
            #expect(try await stage.book().count("SELECT count(*) FROM runs") == 1)
            // The first job continues where it was.
            let next = try await stage.run(first)
            #expect(next.output.contains("rows               0 new, 0 updated"), "\(next.output)")

            // A file that was changed in its place or moved is the same job.
            try stage.write(other)
            try await stage.run(first)
            try FileManager.default.moveItem(atPath: first, toPath: stage.store.directory + "/moved.yaml")
            other.streams[1] = "refundHistory: {for: revoked}"
            try stage.write(other.text, to: "moved.yaml")
            try await stage.run(stage.store.directory + "/moved.yaml")
        }
    }

    @Test func `a first run with a mistyped Apple ID leaves the ledger to the corrected job file`() async throws {
        try await Stage.with(.init(customers: 30)) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}", "notificationHistory: {scope: app}"]
            job.transactionIds = "{changedSince: lastRun}"
            let path = try await stage.migrated(job)
            try stage.write(
                job.text.replacing("appAppleId: 1234567890", with: "appAppleId: 1234567809"),
                to: "nightly.yaml"
            )
            let wrong = try await stage.run(path, expecting: 76)
            #expect(
                wrong.errors.contains("same reason, app_id; compare app.appAppleId in the job file"),
                "\(wrong.errors)"
            )
            #expect(try await stage.book().count("SELECT count(*) FROM apps WHERE app_apple_id = 1234567809") == 1)

            try stage.write(job)
            let doctor = try await stage.storeledger("doctor", path)
            #expect(doctor.code == 0 && doctor.output.contains("agrees with the ledger"), "\(doctor)")
            // The first pages are read, and their records wait in the quarantine.
            try await stage.run(path, expecting: 2)
            #expect(try await stage.storeledger("replay", path, "--rejected").code == 0)
            try await stage.run(path)
            #expect(
                try await stage.book().count("SELECT count(*) FROM rejected_records WHERE resolved_at IS NULL") == 0
            )
            #expect(try await stage.book().count("SELECT count(*) FROM apps WHERE app_apple_id = 1234567890") == 1)

            try stage.write(
                job.text.replacing("appAppleId: 1234567890", with: "appAppleId: 1234567809"),
                to: "nightly.yaml"
            )
            let late = try await stage.run(path, expecting: 78)
            #expect(late.errors.contains("the ledger has this app with Apple ID 1234567890"), "\(late.errors)")
        }
    }

    @Test func `a copied job file with the same name and a list instead of notifications is refused`() async throws {
        try await Stage.with(.init(customers: 10)) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}", "notificationHistory: {scope: app}"]
            let list = job.transactionIds
            job.transactionIds = "{changedSince: lastRun}"
            let first = try await stage.migrated(job)
            try await stage.run(first)
            job.transactionIds = list
            let second = try stage.write(job.text, to: "copy.yaml")
            let refused = try await stage.storeledger("run", second, "--progress", "none")
            #expect(refused.code == 78, "\(refused)")
            #expect(refused.errors.contains("\(first) on "), "\(refused.errors)")
            #expect(refused.errors.contains(", with another source of transaction IDs than \(second) on "))
            #expect(try await stage.book().count("SELECT count(*) FROM runs") == 1)
            let doctor = try await stage.storeledger("doctor", second)
            #expect(doctor.code == 78 && doctor.output.contains(/FAIL +job: job nightly is already in \//), "\(doctor)")
            #expect(try await stage.storeledger("doctor", first).output.contains(/ok +job: the last run of/))

            // The owner's own file may change, and so may the list that a copy names.
            try stage.write(job)
            try await stage.run(first)
            job.transactionIds = "list: [\"430000000000000\"]"
            try await stage.run(try stage.write(job.text, to: "copy.yaml"), expecting: 0)
            job.transactionIds = "{changedSince: lastRun}"
            let back = try await stage.storeledger("run", try stage.write(job), "--progress", "none")
            #expect(back.code == 78, "\(back)")
            try FileManager.default.removeItem(atPath: second)
            try await stage.run(first)
        }
    }
}
