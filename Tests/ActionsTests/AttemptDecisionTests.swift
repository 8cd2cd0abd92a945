import ActionKinds
import AppStoreAPI
import AppStoreModel
import Basics
import Crawl
import Testing

@testable import Actions

/// What follows from Apple's answer, or from none.
struct AttemptDecisionTests {
    private static let extended = #"{"success": true, "effectiveDate": 1767225600000, "webOrderLineItemId": "9"}"#

    private func answer(
        _ status: Int,
        _ code: Int64? = nil,
        body: String = "{}",
        refusedFor duration: Duration = .zero
    ) -> SendResult {
        var answer = HTTPAnswer(status: status, errorCode: code, message: "no")
        answer.refusals = TokenRefusals(duration: duration)
        return .answered(WriteAnswer(answer: answer, body: Array(body.utf8)))
    }

    /// The name of the decision's case.
    private func decide(
        _ result: SendResult,
        mayBeApplied: Bool = false,
        action: any AppStoreAction.Type = ExtendRenewalDate.self
    ) -> String {
        let decision = AttemptDecision(
            result,
            mayBeApplied: mayBeApplied,
            refusal: { KeyPatience().decision(on: $0, refusals: 1, now: UnixMilliseconds(rawValue: 0)) },
            action: action
        )
        return switch decision {
        case .succeeded: "succeeded"
        case .rejected: "rejected"
        case .refused(let errors): "refused with \(errors.code.map(String.init) ?? "no code")"
        case .readBack(_, let isRefused): isRefused ? "readBack, refused" : "readBack"
        case .waitForApple: "waitForApple"
        case .repeatRefused: "repeatRefused"
        case .leave: "leave"
        case .retry(let retry, _): retry == .short ? "retry soon" : "retry"
        case .retryAtOnce: "retryAtOnce"
        case .outcomeUnknown: "outcomeUnknown"
        case .stop(let stop): "stop \(stop.status.rawValue)"
        }
    }

    @Test func `the first answer is the outcome, and a repeat's answer only where two requests do the same as one`() {
        let success = answer(200, body: Self.extended)
        #expect(decide(success) == "succeeded")
        #expect(decide(success, mayBeApplied: true) == "readBack")
        #expect(decide(answer(200), mayBeApplied: true, action: SetAppAccountToken.self) == "succeeded")
        #expect(decide(answer(202), mayBeApplied: true, action: SendConsumptionInformation.self) == "succeeded")
    }

    @Test func `a list of errors refuses a report, and a known ID of the report is read back`() {
        func listed(_ errors: String, mayBeApplied: Bool = false) -> String {
            let body = "{\"errors\":[\(errors)]}"
            return decide(answer(400, body: body), mayBeApplied: mayBeApplied, action: ReportExternalPurchases.self)
        }
        let sum = #"{"errorCode":11,"errorMessage":"m","fieldName":"amountTaxInclusive","lineItemId":"a"}"#
        let line = #"{"errorCode":1,"errorMessage":"m","fieldName":"lineItemId","lineItemId":"a"}"#
        #expect(listed(sum) == "refused with 11")
        #expect(listed(sum, mayBeApplied: true) == "refused with 11")
        #expect(listed(#"{"errorCode":4711,"errorMessage":"new"}"#) == "refused with 4711")
        #expect(listed(#"{"errorCode":1,"fieldName":"requestIdentifier"}"#) == "readBack")
        #expect(listed(line) == "refused with 1")
        #expect(listed(line, mayBeApplied: true) == "readBack, refused")
        #expect(listed(#"{"errorCode":26}"#) == "retry soon")
        #expect(listed("") == "refused with no code")
        // Other actions know no such list.
        #expect(decide(answer(400, body: "{\"errors\":[\(sum)]}")) == "stop 76")
    }

    @Test func `a refusal rejects a row that was sent once, and proves nothing about an earlier request`() {
        let refused = answer(200, body: #"{"success": false}"#)
        #expect(decide(refused) == "rejected")
        #expect(decide(refused, mayBeApplied: true) == "readBack, refused")
        for (status, code) in [
            (403, 4_030_004), (403, 4_030_005), (403, 4_030_007), (400, 4_000_009), (403, 9_999_999),
        ] {
            #expect(decide(answer(status, Int64(code))) == "rejected", "\(code)")
            #expect(decide(answer(status, Int64(code)), mayBeApplied: true) == "readBack, refused", "\(code)")
        }
    }

    @Test(arguments: [false, true])
    func `4000097 says that a request with the ID arrived, so signed data is read, and 4000205 proves nothing`(
        mayBeApplied: Bool
    ) {
        let signed = answer(200, body: #"{"signedRenewalInfo": "a.b.c", "signedTransactionInfo": "a.b.c"}"#)
        let actions: [any AppStoreAction.Type] = [
            CancelSubscription.self, ChangeSubscriptionMetadata.self, ChangeSubscriptionPrice.self,
            MigrateSubscription.self, RevokeSubscription.self, RequestTransactionRefund.self,
        ]
        for action in actions {
            let repeated = decide(answer(400, 4_000_097), mayBeApplied: mayBeApplied, action: action)
            #expect(repeated == "readBack", "\(action)")
            #expect(decide(signed, mayBeApplied: mayBeApplied, action: action) == "succeeded", "\(action)")
            #expect(decide(answer(200), mayBeApplied: mayBeApplied, action: action) == "outcomeUnknown", "\(action)")
            let communicated = decide(answer(400, 4_000_205), mayBeApplied: mayBeApplied, action: action)
            #expect(communicated == (mayBeApplied ? "readBack, refused" : "rejected"), "\(action)")
        }
        // Only these calls have the ID in their bodies.
        #expect(decide(answer(400, 4_000_097)) == "rejected")
    }

    @Test(arguments: [false, true])
    func `no answer, a server error and an unreadable success leave the outcome unknown`(mayBeApplied: Bool) {
        #expect(decide(.failed(.lost(detail: "reset")), mayBeApplied: mayBeApplied) == "outcomeUnknown")
        for status in [500, 502, 503, 504] {
            #expect(decide(answer(status), mayBeApplied: mayBeApplied) == "outcomeUnknown")
            #expect(decide(answer(status, 5_000_000), mayBeApplied: mayBeApplied) == "outcomeUnknown")
        }
        for body in ["", "{", "{}", #"{"success": 1}"#, "[]"] {
            #expect(decide(answer(200, body: body), mayBeApplied: mayBeApplied) == "outcomeUnknown", "\(body)")
        }
    }

    @Test(arguments: [false, true])
    func `a request that did not leave is sent again, and so is one that Apple asks to send again`(mayBeApplied: Bool) {
        #expect(decide(.failed(.notSent(detail: "no route")), mayBeApplied: mayBeApplied) == "retry")
        #expect(decide(.failed(.tooLate), mayBeApplied: mayBeApplied) == "retryAtOnce")
        #expect(decide(answer(404, 4_040_006), mayBeApplied: mayBeApplied) == "retry soon")
        #expect(decide(answer(429, 4_290_000), mayBeApplied: mayBeApplied) == "waitForApple")
        #expect(decide(answer(401), mayBeApplied: mayBeApplied) == "repeatRefused")
    }

    @Test(arguments: [false, true])
    func `what concerns every row stops the run, and never rejects a row`(mayBeApplied: Bool) {
        #expect(decide(answer(401, refusedFor: .seconds(60)), mayBeApplied: mayBeApplied) == "stop 77")
        #expect(decide(answer(403), mayBeApplied: mayBeApplied) == "stop 77")
        #expect(decide(answer(404, 4_040_003), mayBeApplied: mayBeApplied) == "stop 78")
        #expect(decide(answer(302), mayBeApplied: mayBeApplied) == "stop 76")
        #expect(decide(answer(400), mayBeApplied: mayBeApplied) == "stop 76")
        #expect(decide(.failed(.tls(detail: "expired")), mayBeApplied: mayBeApplied) == "stop 76")
    }
}
