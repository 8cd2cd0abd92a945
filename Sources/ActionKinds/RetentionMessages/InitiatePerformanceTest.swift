package import AppStoreModel
package import StrictJSON
import Streams

/// Initiate Performance Test, then its result: Apple sends requests to the app's real-time URL in the sandbox and measures the answers.
///
/// The host is the sandbox's for production too. If the answer is lost, so is the ID with which Apple gives the result. The request is then
/// sent again: Apple refuses it while the first test runs (4000213), so the row stays unknown and a later run starts a second test. A test
/// changes nothing at Apple. Source: Initiate Performance Test, Get Performance Test Results, Retention Messaging API 1.5, read 2026-11.
package enum InitiatePerformanceTest: AppStoreAction {
    package static let name = StreamName("initiatePerformanceTest")
    package static let requestsPerSecond = 1.0
    package static let usesSandboxHost = true
    package static let columns = [ActionColumn("original_transaction_id", .transactionID, needsValue: true)]
    package static let subject: String? = nil
    package static let subjectKind: ActionSubject? = nil

    package static func request(_ row: ActionParameters, id: String) -> AppStoreRequest {
        .post(
            "/inApps/v1/messaging/performanceTest",
            body: JSONWriter.bytes(
                .object(.of([("originalTransactionId", row["original_transaction_id"]?.json)]))
            )
        )
    }

    package static func outcome(_ body: [UInt8]) throws(RequestFailure) -> ActionOutcome {
        guard let answer = try? StrictJSON.parseObject(body), let id = answer["requestId"]?.string else {
            throw .badPage(reason: "the answer has no requestId")
        }
        return .succeeded(.of([("requestId", .string(id))]))
    }

    package static let followUp: ActionFollowUp? = ActionFollowUp(
        endpoint: StreamName("performanceTestResult"),
        requestsPerSecond: 1,
        remedy: "Run again later, or plan another test"
    )

    package static func followUpRequest(_ row: ActionParameters, answer: JSONObject) -> AppStoreRequest? {
        answer["requestId"]?.string.map { .get("/inApps/v1/messaging/performanceTest/result/\($0.percentEncoded)") }
    }

    package static func progress(_ body: [UInt8]) throws(RequestFailure) -> JSONObject? {
        guard let answer = try? StrictJSON.parseObject(body), let result = answer["result"]?.string else {
            throw .badPage(reason: "the answer has no result")
        }
        guard result != "PENDING" else { return nil }
        let kept = ["result", "successRate", "numPending", "responseTimes", "failures"]
        return .of(kept.map { ($0, answer[$0]) })
    }

    package static func refusal(_ members: JSONObject) -> String? {
        members["result"]?.string == "FAIL"
            ? "the performance test failed; the answer has successRate and responseTimes" : nil
    }
}
