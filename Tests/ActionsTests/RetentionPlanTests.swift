import ActionKinds
import FoundationEssentials
import JobFiles
import StrictJSON
import TestSupport
import Testing

@testable import Actions

/// What a folder with retention messages becomes, compared with what Apple has.
struct RetentionPlanTests {
    private static let one = "11111111-1111-4111-8111-111111111111"
    private static let two = "22222222-2222-4222-8222-222222222222"

    private struct Files {
        var messages = ["message_id,header,body", "\(one),Stay with us,Three months for half the price"]
        var defaults = ["product_id,locale,message_id", "com.example.monthly,en-US,\(one)"]
        var deletions: [String]?
        var images: [String: [UInt8]] = [:]
    }

    /// The rows of a folder.
    private func rows(
        _ files: Files,
        at apple: RetentionCatalog = RetentionCatalog(),
        uploads: [String: ActionParameters] = [:]
    ) async throws -> [InputRow] {
        try await withTemporaryDirectory { directory in
            func write(_ bytes: [UInt8], _ name: String) throws {
                try Data(bytes).write(to: URL(filePath: "\(directory)/\(name)"))
            }
            try write(Array((files.messages.joined(separator: "\n") + "\n").utf8), "messages.csv")
            try write(Array((files.defaults.joined(separator: "\n") + "\n").utf8), "defaults.csv")
            if let lines = files.deletions {
                try write(Array((lines.joined(separator: "\n") + "\n").utf8), "delete.csv")
            }
            for (name, bytes) in files.images { try write(bytes, name) }
            let job = try TestJob.of("publishRetentionMessages: {}", name: "messages", input: "directory: \(directory)")
            return try RetentionPlan.rows(try RetentionFolder(path: directory), apple, uploads, of: job).rows
        }
    }

    /// What a row is, in one line.
    private func line(_ row: InputRow) -> String {
        "\(row.subject ?? "-") \(row.verdict?.rawValue ?? "") \(row.problem?.rule ?? "")"
    }

    private func reason(_ row: InputRow?) -> String { row?.problem?.reason ?? "" }

    @Test func `images come before messages, messages before defaults, and the same picture is uploaded once`()
        async throws
    {
        var files = Files()
        files.messages = [
            "message_id,header,body,image_file,alt_text,bullet_points",
            "\(Self.one),A,B,wide.png,A beach,",
            #"\#(Self.two),C,D,again.png,The beach,"[{""text"":""Sun"",""image_file"":""dot.png"",""altText"":""A sun""}]""#,
        ]
        files.defaults.append("com.example.monthly,de-DE,\(Self.two)")
        files.images = [
            "wide.png": TestPNG.bytes(3_840, 160), "again.png": TestPNG.bytes(3_840, 160),
            "dot.png": TestPNG.bytes(1_024, 1_024),
        ]
        let rows = try await rows(files)
        let kinds = rows.map { $0.parameters?.text("kind") ?? "" }
        #expect(kinds == ["image", "image", "message", "message", "default", "default"])
        #expect(rows.allSatisfy { $0.verdict == .valid }, "\(rows.map(reason))")
        let image = try #require(rows[0].parameters?.text("image_id"))
        let bullet = try #require(rows[1].parameters?.text("image_id"))
        #expect(rows[2].parameters?.text("image_id") == image && rows[3].parameters?.text("image_id") == image)
        #expect(rows[3].parameters?.texts("waits_for") == ["image/\(image)", "image/\(bullet)"])
        #expect(rows[5].parameters?.texts("waits_for") == ["message/\(Self.two)", "image/\(image)", "image/\(bullet)"])
        let body = String(
            decoding: PublishRetentionMessages.body(of: try #require(rows[3].parameters)),
            as: UTF8.self
        )
        #expect(
            body
                == #"{"header":"C","body":"D","image":{"imageIdentifier":"\#(image)","altText":"The beach"},"bulletPoints":[{"text":"Sun","imageIdentifier":"\#(bullet)","altText":"A sun"}]}"#
        )
    }

    @Test func `what Apple has is not sent again, and a changed text under a known identifier is refused`() async throws
    {
        var apple = RetentionCatalog()
        apple.messages[Self.one] = .init(state: "APPROVED")
        apple.defaults["default/com.example.monthly/en-US"] = Self.one
        let files = Files()
        let first = try #require(try await rows(files)[0].parameters)
        let same = try await rows(files, at: apple, uploads: ["message/\(Self.one)": first])
        #expect(
            same.map(line) == ["message/\(Self.one) same at_apple", "default/com.example.monthly/en-US same at_apple"]
        )

        var changed = files
        changed.messages[1] = "\(Self.one),Stay with us,Four months for half the price"
        let refused = try await rows(changed, at: apple, uploads: ["message/\(Self.one)": first])
        #expect(refused.map(\.verdict) == [.invalid, .ineligible])
        #expect(reason(refused[0]).hasPrefix("messages.csv, line 2: Apple has another message under this identifier"))
        #expect(reason(refused[1]).contains("its message cannot be sent"))

        let unknown = try await rows(changed, at: apple)
        #expect(unknown[0].verdict == .same && unknown[0].problem?.rule == "content_not_known")

        apple.messages[Self.one] = .init(state: "REJECTED")
        let rejected = try await rows(files, at: apple, uploads: ["message/\(Self.one)": first])
        #expect(rejected.map(\.verdict) == [.ineligible, .ineligible])
    }

    @Test func `a default that changes is sent, with the message that Apple has now`() async throws {
        var apple = RetentionCatalog()
        apple.messages[Self.two] = .init(state: "APPROVED")
        apple.defaults["default/com.example.monthly/en-US"] = Self.two
        let row = try #require(try await rows(Files(), at: apple).last)
        #expect(row.verdict == .valid && row.answer?["before"]?.string == Self.two)
    }

    @Test func `only what delete.csv names is deleted, messages before images, and nothing that the folder uses`()
        async throws
    {
        var apple = RetentionCatalog()
        apple.images[Self.two] = .init(state: "APPROVED")
        apple.messages[Self.two] = .init(state: "APPROVED")
        var files = Files()
        files.deletions = [
            "kind,id,product_id,locale", "image,\(Self.two),,", "message,\(Self.two),,", "message,\(Self.one),,",
            "default,,com.example.yearly,fr-FR", "picture,\(Self.two),,",
        ]
        let deletions = try await rows(files, at: apple).dropFirst(2)
        #expect(
            deletions.map(line) == [
                "default/com.example.yearly/fr-FR same not_at_apple", "message/\(Self.two) valid ",
                "message/\(Self.one) invalid named_twice", "image/\(Self.two) valid ", "- invalid kind",
            ]
        )
    }

    @Test(
        arguments: [
            (
                "RM1 66 characters are allowed", "\(one),\(String(repeating: "é", count: 67)),B,,",
                "header has 67 characters"
            ),
            (
                "RM2 144 characters are allowed", "\(one),A,\(String(repeating: "b", count: 145)),,",
                "body has 145 characters"
            ),
            (
                "RM3 150 characters are allowed", "\(one),A,B,wide.png,\(String(repeating: "c", count: 151))",
                "alt_text has 151"
            ),
            ("RM4 not a UUID", "spring-offer,A,B,,", "message_id is spring-offer; it must be a UUID"),
            (
                "RM5 an image of another size", "\(one),A,B,small.png,D",
                "small.png is 3839 x 160 pixels; a full-size image"
            ),
            ("RM6 a transparent image", "\(one),A,B,clear.png,D", "clear.png has an alpha channel"),
            ("RM7 not a PNG file", "\(one),A,B,text.png,D", "text.png is not a PNG file"),
            ("RM8 a missing file", "\(one),A,B,none.png,D", "none.png: there is no such file"),
            ("RM9 an image without its text", "\(one),A,B,wide.png,", "alt_text is missing"),
            ("RM10 no header", "\(one),,B,,", "header is missing"),
        ]
    )
    func `a row that Apple would refuse names file, line and column`(
        name: String,
        row: String,
        reason expected: String
    ) async throws {
        var files = Files()
        files.messages = ["message_id,header,body,image_file,alt_text", row]
        files.images = [
            "wide.png": TestPNG.bytes(3_840, 160), "small.png": TestPNG.bytes(3_839, 160),
            "clear.png": TestPNG.bytes(3_840, 160, colourType: 6), "text.png": Array("not a picture".utf8),
        ]
        let rows = try await rows(files)
        let message = try #require(rows.first { $0.verdict == .invalid })
        #expect(reason(message).hasPrefix("messages.csv, line 2: ") && reason(message).contains(expected), "\(name)")
        #expect(rows.last?.verdict != .valid, "\(name): its default is not sent")
    }

    @Test(
        arguments: [
            ("RM11 a message that nobody has", ["com.example.monthly,en-US,\(two)"], "invalid message_id"),
            ("RM12 a locale in another form", ["com.example.monthly,en_us,\(one)"], "invalid locale"),
            (
                "RM13 a second default for a product and a language",
                ["com.example.monthly,en-US,\(one)", "com.example.monthly,en-US,\(one)"], "duplicate duplicate"
            ),
        ]
    )
    func `a default that cannot be set is not sent`(name: String, lines: [String], expected: String) async throws {
        var files = Files()
        files.defaults = ["product_id,locale,message_id"] + lines
        let row = try #require(try await rows(files).last)
        #expect("\(row.verdict?.rawValue ?? "") \(row.problem?.rule ?? "")" == expected, "\(name)")
        #expect(reason(row).hasPrefix("defaults.csv, line \(lines.count + 1): "), "\(name)")
    }

    @Test func `RM14 an identifier that two messages have is sent once`() async throws {
        var files = Files()
        files.messages.append("\(Self.one.uppercased()),Other,Text")
        let rows = try await rows(files)
        #expect(rows.map(\.verdict) == [.valid, .duplicate, .valid])
        #expect(reason(rows[1]) == "messages.csv, line 3: message_id is the same as in line 2")
    }

    @Test func `RM15 more than five bullet points, and ABOVE_IMAGE without an image, are refused`() async throws {
        let point = #"{""text"":""Sun"",""imageIdentifier"":""\#(Self.two)"",""altText"":""A sun""}"#
        var files = Files()
        files.messages = [
            "message_id,header,body,header_position,bullet_points",
            "\(Self.one),A,B,,\"[\(Array(repeating: point, count: 6).joined(separator: ","))]\"",
            "\(Self.two),A,B,ABOVE_IMAGE,",
        ]
        let rows = try await rows(files)
        #expect(rows.prefix(2).map { $0.problem?.rule } == ["bullet_points", "header_position"])
    }

    @Test func `RM16 the 2001st message of an app is not sent`() async throws {
        var apple = RetentionCatalog()
        for number in 0..<1_999 { apple.messages["\(number)"] = .init(state: "APPROVED") }
        var files = Files()
        files.messages.append("\(Self.two),A,B")
        let rows = try await rows(files, at: apple)
        #expect(rows.prefix(2).map(\.verdict) == [.valid, .ineligible])
        #expect(reason(rows[1]).contains("2000 messages of an app (4030016)"))
    }

    @Test func `a misspelt or missing column and a missing file are errors, and nothing is planned`() async throws {
        var files = Files()
        files.messages[0] = "message_id,header,body,image_fil"
        await #expect(throws: ActionInputError.self) { try await rows(files) }
        files.messages[0] = "message_id,header"
        await #expect(throws: ActionInputError.self) { try await rows(files) }
        #expect(throws: ActionInputError.self) { try RetentionFolder(path: "/nowhere") }
    }
}
