import FoundationEssentials
import TestSupport
import Testing

/// Retention messages: a campaign in three languages, from the folder to the defaults, and its change.
@Suite(.migratedDatabase)
struct RetentionMessagesTests {
    private static let english = "11111111-1111-4111-8111-111111111111"
    private static let german = "22222222-2222-4222-8222-222222222222"
    private static let french = "33333333-3333-4333-8333-333333333333"
    private static let newGerman = "44444444-4444-4444-8444-444444444444"
    private static let endpoints = [
        "uploadImage", "uploadMessage", "configureDefaultMessage", "deleteDefaultMessage", "deleteMessage",
        "deleteImage",
        "imageList", "messageList", "defaultMessage",
    ]

    private func job() -> ActionScene.Job {
        var job = ActionScene.Job()
        job.name = "messages"
        job.action = "publishRetentionMessages: {}"
        job.input = "directory: messages"
        job.limits =
            "{share: 1, windowSeconds: 10, requestsPerSecond: {\(Self.endpoints.map { "\($0): 100000" }.joined(separator: ", "))}}"
        return job
    }

    private func write(_ scene: ActionScene, messages: [String], defaults: [String], deletions: [String] = []) throws {
        let directory = scene.stage.store.directory + "/messages"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        func write(_ lines: [String], _ name: String) throws {
            try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: "\(directory)/\(name)"))
        }
        try write(["message_id,header,body,image_file,alt_text"] + messages, "messages.csv")
        try write(["product_id,locale,message_id"] + defaults, "defaults.csv")
        try write(["kind,id,product_id,locale"] + deletions, "delete.csv")
    }

    private func writeImage(_ scene: ActionScene, note: String = "") throws {
        let path = scene.stage.store.directory + "/messages/beach.png"
        try Data(TestPNG.bytes(3_840, 1_000, note: note)).write(to: URL(filePath: path))
    }

    private func defaults(german: String) -> [String] {
        [
            "com.example.monthly,en-US,\(Self.english)", "com.example.monthly,de-DE,\(german)",
            "com.example.monthly,fr-FR,\(Self.french)",
        ]
    }

    @Test func `a campaign in three languages is planned, applied in spite of lost answers, and then changed`()
        async throws
    {
        try await ActionScene.with(.init(customers: 8)) { scene in
            let german = "\(Self.german),Bleib bei uns,Drei Monate zum halben Preis,beach.png,Ein Strand"
            let others = [
                "\(Self.english),Stay with us,Three months for half the price,beach.png,A beach",
                "\(Self.french),Restez avec nous,Trois mois à moitié prix,,",
            ]
            try write(scene, messages: others + [german], defaults: defaults(german: Self.german))
            try writeImage(scene)
            let path = try scene.write(job())
            let plan = try await scene.approve(path)
            #expect(plan.rows == 7 && plan.rowsToSend == 7, "\(plan.rules)")
            #expect(
                plan.remarks.prefix(3) == [
                    "image: 1 to send, 0 at Apple, 0 not to send", "message: 3 to send, 0 at Apple, 0 not to send",
                    "default: 3 to send, 0 at Apple, 0 not to send",
                ]
            )

            try writeImage(scene, note: "another picture")
            let refused = try await scene.send(path, expecting: 65)
            #expect(refused.errors.contains("beach.png was changed after the plan"), "RM17 \(refused.errors)")
            try writeImage(scene)

            try await scene.stage.store.setFaults(
                #"""
                {"rules": [{"endpoint": "uploadImage", "times": 1, "fault": "applyThenDrop"},
                    {"endpoint": "uploadMessage", "times": 2, "fault": "applyThenStatus", "status": 500},
                    {"endpoint": "configureDefaultMessage", "times": 1, "fault": "applyThenDrop"}]}
                """#
            )
            _ = try await scene.send(path)
            try scene.expectEveryRowOnce(7)
            #expect(try scene.results("succeeded").count == 7)
            let applied = try await scene.applied()
            #expect(applied.count { $0.endpoint == "uploadMessage" } == 3)
            #expect(applied.allSatisfy { $0.endpoint == "configureDefaultMessage" || $0.applied == 1 }, "\(applied)")
            let again = try await scene.plan(path)
            #expect(again.rowsToSend == 0, "\(again.rules)")

            // A changed text needs a new identifier.
            let change = german.replacing("Drei", with: "Vier")
            try write(scene, messages: others + [change], defaults: defaults(german: Self.german))
            let bad = try await scene.plan(path)
            #expect(bad.rowsToSend == 0 && bad.rules.contains { $0.rule == "changed_message" }, "\(bad.rules)")
            try write(
                scene,
                messages: others + [change.replacing(Self.german, with: Self.newGerman)],
                defaults: defaults(german: Self.newGerman),
                deletions: ["message,\(Self.german),,"]
            )
            let changed = try await scene.approve(path)
            #expect(changed.rowsToSend == 3, "\(changed.rules)")
            #expect(
                changed.remarks.contains(
                    "default/com.example.monthly/de-DE: \(Self.german) becomes \(Self.newGerman)"
                ),
                "\(changed.remarks)"
            )
            _ = try await scene.send(path)
            #expect(try scene.results("succeeded").count == 3)
            let seen = try await scene.stage.book().column(
                """
                SELECT left(id::text, 8) || ' ' || state || ' ' || array_to_string(default_for, ' ') FROM retention_messages
                 WHERE kind = 'message' ORDER BY 1
                """
            )
            #expect(
                seen == [
                    "11111111 APPROVED com.example.monthly/en-US", "22222222 DELETED ",
                    "33333333 APPROVED com.example.monthly/fr-FR", "44444444 APPROVED com.example.monthly/de-DE",
                ]
            )
        }
    }

    /// The first request of each endpoint is applied without an answer, or never arrives; every repeat is refused.
    private func setFaults(_ endpoints: [String], isApplied: Bool, _ scene: ActionScene) async throws {
        let rules = endpoints.flatMap { endpoint in
            [
                #"{"endpoint": "\#(endpoint)", "atRequest": 1, "fault": "\#(isApplied ? "applyThenDrop" : "dropConnection")"}"#,
                #"{"endpoint": "\#(endpoint)", "fault": "status", "status": 400, "errorCode": 4000000, "errorMessage": "no"}"#,
            ]
        }
        try await scene.stage.store.setFaults(#"{"rules": [\#(rules.joined(separator: ", "))]}"#)
    }

    @Test func `RM18 a lost answer and a repeat that Apple refuses end with what Apple has`() async throws {
        try await ActionScene.with(.init(customers: 8)) { scene in
            try write(scene, messages: ["\(Self.english),A,B,,", "\(Self.german),C,D,,"], defaults: [])
            let path = try scene.write(job())
            try await scene.approve(path)
            _ = try await scene.send(path)
            /// How many rows of the last batch have an outcome.
            func count(_ file: String, _ outcome: String) throws -> Int {
                try scene.results(file).values.count { $0["outcome"] == outcome }
            }
            for isApplied in [true, false] {
                try write(
                    scene,
                    messages: [
                        "\(Self.english),A,B,,", "\(Self.german),C,D,,",
                        "\(isApplied ? Self.french : Self.newGerman),E,F,,",
                    ],
                    defaults: ["a\(isApplied),en-US,\(Self.english)"]
                )
                try await scene.approve(path)
                try await setFaults(["uploadMessage", "configureDefaultMessage"], isApplied: isApplied, scene)
                _ = try await scene.send(path, expecting: isApplied ? 0 : 2)
                #expect(
                    try count(isApplied ? "succeeded" : "unprocessed", isApplied ? "succeeded" : "not_applied") == 2
                )
            }
        }
    }

    @Test func `a default whose message the review rejects ends with the reason, and others go on`() async throws {
        try await ActionScene.with(.init(customers: 8)) { scene in
            let rejected = "55555555-5555-4555-8555-555555550bad"
            try write(
                scene,
                messages: ["\(Self.english),A,B,,", "\(rejected),C,D,,"],
                defaults: ["a,en-US,\(Self.english)", "b,en-US,\(rejected)"]
            )
            let path = try scene.write(job())
            try await scene.approve(path)
            _ = try await scene.send(path, expecting: 2)
            try scene.expectEveryRowOnce(4)
            #expect(try scene.results("succeeded").keys.sorted() == [1, 3])
            #expect(try scene.results("rejected").keys.sorted() == [2])
            let unsent = try scene.results("unprocessed")[4]?["outcome_reason"] ?? ""
            #expect(unsent.hasPrefix("not sent: message/\(rejected) is rejected"), "\(unsent)")
        }
    }

    @Test
    func
        `a performance test runs until it has passed, and then the real-time URL is set and removed in spite of lost answers`()
        async throws
    {
        try await ActionScene.with(.init(customers: 8)) { scene in
            let ids = try await scene.stage.book().column(
                "SELECT original_transaction_id FROM transactions WHERE transaction_id = original_transaction_id ORDER BY 1 LIMIT 1"
            )
            /// Returns the remarks of the plan.
            func run(_ name: String, _ parameters: String, _ more: String = "") async throws -> [String] {
                var job = ActionScene.Job()
                (job.name, job.action, job.input) = (name.lowercased(), "\(name): \(parameters)", nil)
                job.limits = "{share: 1, windowSeconds: 10, requestsPerSecond: {ENDPOINT: 100000\(more)}}"
                let path = try scene.write(job)
                let plan = try await scene.approve(path)
                _ = try await scene.send(path)
                #expect(try scene.results("succeeded").count == 1)
                return plan.remarks
            }
            let test = try await run(
                "initiatePerformanceTest",
                "{originalTransactionId: \"\(ids[0])\"}",
                ", performanceTestResult: 100000"
            )
            #expect(test == [])
            #expect(try scene.results("succeeded")[1]?["outcome_answer"]?.contains("\"result\": \"PASS\"") == true)
            // The answers are lost, and the repeats refused.
            try await setFaults(["configureRealtimeURL", "deleteRealtimeURL"], isApplied: true, scene)
            let set = try await run("configureRealtimeURL", "{realtimeUrl: \"https://example.com/retention\"}")
            #expect(set == ["Apple has no real-time URL"])
            #expect(
                try scene.results("succeeded")[1]?["outcome_confirmed_by"]
                    == "the real-time URL at Apple is https://example.com/retention"
            )
            let removed = try await run("deleteRealtimeURL", "{}")
            #expect(removed == ["Apple has the real-time URL https://example.com/retention"])
        }
    }
}
