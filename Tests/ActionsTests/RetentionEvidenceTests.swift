import ActionKinds
import AppStoreAPI
import AppStoreModel
import JobFiles
import Testing

@testable import Actions

/// What Apple's lists and answers say of a retention request whose answer was lost.
struct RetentionEvidenceTests {
    private static let id = "7e3fb20b-4cdb-47cc-936d-99d65f608138"

    private func found(
        _ values: [(String, ActionValue)],
        _ readBack: ActionReadBack,
        _ status: Int,
        _ body: String,
        code: Int64? = nil
    ) -> Evidence? {
        let answer = WriteAnswer(
            answer: HTTPAnswer(status: status, errorCode: code, message: ""),
            body: Array(body.utf8)
        )
        return RetentionEvidence(row: ActionParameters(values), answer: answer).found(in: readBack)
    }

    @Test func `an upload in Apple's list is under review, and one that it lacks was not applied`() {
        let row: [(String, ActionValue)] = [("kind", .text("message")), ("message_id", .text(Self.id))]
        func list(_ id: String) -> String {
            #"{"messageIdentifiers":[{"messageIdentifier":"\#(id)","messageState":"PENDING"}]}"#
        }
        let readBack = ActionReadBack.retentionList(.messages)
        #expect(found(row, readBack, 200, list(Self.id.uppercased())) == .inReview(.messages))
        #expect(
            found(row, readBack, 200, list("x")) == .notApplied("Apple's list of messages does not have \(Self.id)")
        )
        #expect(found(row, readBack, 200, "{}") == nil && found(row, readBack, 500, list("x")) == nil)
        let deletion: [(String, ActionValue)] = [("kind", .text("delete_message")), ("message_id", .text(Self.id))]
        #expect(found(deletion, readBack, 200, list(Self.id)) == .notApplied("Apple's list of messages has \(Self.id)"))
        #expect(
            found(deletion, readBack, 200, list("x")) == .applied("Apple's list of messages does not have \(Self.id)")
        )
    }

    @Test func `a default is applied if Apple has that message, and its deletion if Apple has none`() {
        let place: [(String, ActionValue)] = [("product_id", .text("p")), ("locale", .text("en-US"))]
        let set = place + [("kind", .text("default")), ("message_id", .text(Self.id))]
        let delete = place + [("kind", .text("delete_default"))]
        let readBack = ActionReadBack.defaultMessage(product: "p", locale: "en-US")
        let held = #"{"messageIdentifier":"\#(Self.id.uppercased())"}"#
        let sentence = "the default message at Apple is \(Self.id)"
        #expect(found(set, readBack, 200, held) == .applied(sentence))
        #expect(found(delete, readBack, 200, held) == .notApplied(sentence))
        #expect(
            found(set, readBack, 200, #"{"messageIdentifier":"x"}"#) == .notApplied("the default message at Apple is x")
        )
        let none = "Apple does not have the default message"
        let code = AppleErrorCode.defaultMessageNotFound
        #expect(found(set, readBack, 404, "", code: code.rawValue) == .notApplied(none))
        #expect(found(delete, readBack, 404, "", code: code.rawValue) == .applied(none))
        #expect(found(delete, readBack, 404, "", code: 4_040_010) == nil)
    }

    @Test func `a real-time URL is applied if Apple has it, and its deletion if Apple has none`() {
        let set: [(String, ActionValue)] = [("realtime_url", .text("https://example.com/a"))]
        let held = #"{"realtimeURL":"https://example.com/a"}"#
        let code = AppleErrorCode.realtimeURLNotFound
        #expect(
            found(set, .realtimeURL, 200, held) == .applied("the real-time URL at Apple is https://example.com/a")
        )
        #expect(
            found([], .realtimeURL, 200, held) == .notApplied("the real-time URL at Apple is https://example.com/a")
        )
        #expect(
            found([], .realtimeURL, 404, "", code: code.rawValue) == .applied("Apple does not have the real-time URL")
        )
    }
}
