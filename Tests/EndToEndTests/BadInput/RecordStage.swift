import AppStoreModel
import FoundationEssentials
import SignedData
import TestSupport

/// A stage whose store answers for each listed ID with a page the test has written.
enum RecordStage {
    /// As many items of one authority.
    static func scenes(_ count: Int, trap: String = "") throws -> [RecordScene] {
        let now = UnixMilliseconds(rawValue: Int64(Date.now.timeIntervalSince1970 * 1_000))
        let authority = try RecordScene.authority(around: now)
        return try (0..<count).map { index in
            try RecordScene(item: String(710_000_000_000 + index), authority: authority, now: now, trap: trap)
        }
    }

    /// Lends the stage and a migrated job that lists the items' IDs and trusts only their authority.
    static func with(
        _ scenes: [RecordScene],
        pages: [String],
        csv: String? = nil,
        _ body: (_ stage: Stage, _ path: String) async throws -> Void
    ) async throws {
        let rules = zip(scenes, pages).map { scene, page in
            #"{"endpoint":"transactionHistory","transactionId":"\#(scene.item)","fault":"garbageBody","#
                + "\"body\":\(BadRecord.quoted(page))}"
        }
        try await Stage.with(.init(customers: 1, faults: faults(rules))) { stage in
            var job = stage.job
            job.streams = ["transactionHistory: {}"]
            job.csv = csv
            try stage.write("id\n" + scenes.map { $0.item + "\n" }.joined(), to: "listed.csv")
            job.transactionIds = "csv: {path: listed.csv, column: id}"
            if let authority = scenes.first?.authority { try trust(authority, in: &job, stage) }
            try await body(stage, try await stage.migrated(job))
        }
    }

    static func faults(_ rules: [String]) -> String { "{\"rules\":[\(rules.joined(separator: ","))]}" }

    /// Makes the job trust only the test's own authority.
    static func trust(_ authority: CertificateAuthority, in job: inout JobText, _ stage: Stage) throws {
        try Data(authority.root.der).write(to: URL(filePath: stage.store.directory + "/own-root.cer"))
        job.store = job.store.replacing("root.cer", with: "own-root.cer")
    }
}
