import ActionKinds
import AppStoreAPI
import AppStoreModel
import Crawl
import JobFiles
import JobSyntax
import StrictJSON
import Testing

@testable import Actions

/// The requests of the Retention Messaging API, and what Apple's refusals of them mean.
struct RetentionActionTests {
    private static let id = "11111111-1111-4111-8111-111111111111"

    private func row(_ kind: RetentionRequestKind) -> ActionParameters {
        ActionParameters([
            ("kind", .text(kind.rawValue)), ("message_id", .text(Self.id)), ("image_id", .text(Self.id)),
            ("product_id", .text("com.example.monthly")), ("locale", .text("en-US")),
        ])
    }

    @Test(
        arguments: zip(
            RetentionRequestKind.allCases,
            [
                "put image/\(id) uploadImage", "put message/\(id) uploadMessage",
                "put default/com.example.monthly/en-US configureDefaultMessage",
                "delete default/com.example.monthly/en-US deleteDefaultMessage", "delete message/\(id) deleteMessage",
                "delete image/\(id) deleteImage",
            ]
        )
    )
    func `each kind of row is one of Apple's calls, with its limit`(kind: RetentionRequestKind, expected: String) {
        let request = PublishRetentionMessages.request(row(kind), id: "")
        let endpoint = PublishRetentionMessages.endpoint(of: row(kind))
        let path = request.target.replacing("/inApps/v1/messaging/", with: "")
        #expect("\(request.method) \(path) \(endpoint.rawValue)" == expected)
        #expect(PublishRetentionMessages.endpoints.contains { $0.name == endpoint })
    }

    @Test(
        arguments: [
            (RetentionRequestKind.image, Int64(4_090_000)), (.message, 4_090_001), (.deleteMessage, 4_040_015),
            (.deleteImage, 4_040_014),
        ]
    )
    func `a refusal because it is done proves an earlier request, and rejects a first one`(
        kind: RetentionRequestKind,
        code: Int64
    ) {
        for mayBeApplied in [true, false] {
            let answer = HTTPAnswer(status: Int(code / 10_000), errorCode: code, message: "no")
            let decision = AttemptDecision(
                .answered(WriteAnswer(answer: answer, body: [])),
                mayBeApplied: mayBeApplied,
                refusal: { KeyPatience().decision(on: $0, refusals: 1, now: UnixMilliseconds(rawValue: 0)) },
                action: PublishRetentionMessages.self,
                row: row(kind)
            )
            switch decision {
            case .succeeded: #expect(mayBeApplied)
            case .rejected: #expect(!mayBeApplied)
            default: Issue.record("\(decision)")
            }
        }
        #expect(PublishRetentionMessages.effect(of: .messageNotFound, on: row(.defaultMessage)) == .rejectsRow)
    }

    @Test func `a performance test that failed is a refusal, and one that runs has no result`() throws {
        let failed = try #require(
            try InitiatePerformanceTest.progress(Array(#"{"result":"FAIL","successRate":40}"#.utf8))
        )
        #expect(InitiatePerformanceTest.refusal(failed) != nil && failed["successRate"]?.number?.int64 == 40)
        #expect(try InitiatePerformanceTest.progress(Array(#"{"result":"PENDING"}"#.utf8)) == nil)
        #expect(InitiatePerformanceTest.divisor(in: .production) == 10)
    }

    @Test func `a folder is the only input, and a job with all values in its section needs none`() throws {
        #expect(throws: JobFileError.self) {
            try TestJob.of("publishRetentionMessages: {}", input: "csv: {path: messages.csv}")
        }
        #expect(throws: JobFileError.self) { try TestJob.of("extendRenewalDate: {}", input: "directory: messages") }
        let url = try TestJob.of("configureRealtimeURL: {realtimeUrl: \"https://example.com/r\"}", input: nil)
        #expect(url.input == .none && url.defaults["realtime_url"] == .text("https://example.com/r"))
        #expect(throws: JobFileError.self) {
            try TestJob.of("configureRealtimeURL: {realtimeUrl: \"http://example.com\"}", input: nil)
        }
        #expect(try TestJob.of("initiatePerformanceTest: {originalTransactionId: \"1\"}", input: nil).input == .none)
    }
}
