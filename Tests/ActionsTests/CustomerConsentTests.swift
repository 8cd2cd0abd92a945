import ActionKinds
import Basics
import FoundationEssentials
import TestSupport
import Testing

@testable import Actions

struct CustomerConsentTests {
    private static let token = "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ef"

    private func consents(_ text: String, _ column: CustomerIDColumn, _ wanted: Set<String>) throws -> Set<String> {
        let path = FileManager.default.temporaryDirectory.appending(path: "consents-\(UUID().uuidString).csv").path
        defer { try? FileManager.default.removeItem(atPath: path) }  // Only cleans up.
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        return try CustomerConsent.read(path, column, wanted)
    }

    @Test(arguments: [
        "AAAAAAAA-BBBB-4CCC-8DDD-0123456789EF", "{aaaaaaaa-bbbb-4ccc-8ddd-0123456789ef}",
        "aaaaaaaabbbb4ccc8ddd0123456789ef",
        "{AAAAAAAABBBB4CCC8DDD0123456789EF}", "urn:uuid:aaaaaaaa-bbbb-4ccc-8ddd-0123456789ef",
        "\u{A0}aaaaaaaa-bbbb-4ccc-8ddd-0123456789ef ",
    ])
    func `AI17 a consent is found in whichever form its UUID is written`(written: String) throws {
        let list = "note,app_account_token\nx,\(written)\ny,\n"
        #expect(try consents(list, .appAccountToken, [Self.token]) == [Self.token])
        let column = ActionColumn("app_account_token", .uuid)
        #expect(
            column.value(String(decoding: Blanks.trimmed(Array(written.utf8)[...]), as: UTF8.self)) == .text(Self.token)
        )
    }

    @Test(arguments: [
        (CustomerIDColumn.appAccountToken, "aaaaaaaa-bbbb-4ccc-8ddd"), (.appAccountToken, "430000000000000"),
        (.transactionId, "430000000000000.0"), (.originalTransactionId, "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ef"),
    ])
    func `AI17 a consent that is no ID of its column is refused with its line`(
        column: CustomerIDColumn,
        written: String
    ) throws {
        let error = #expect(throws: ActionInputError.self) {
            try consents("\(column.rawValue)\n\n\(written)\n", column, [])
        }
        let sentence = error?.sentence ?? ""
        #expect(sentence.contains(":3: \"\(written)\" is not ") && sentence.contains(column.rawValue), "\(sentence)")
    }
}
