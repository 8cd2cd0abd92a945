import ActionKinds
import AppStoreModel
import JobFiles
import StrictJSON

@testable import Actions

enum TestJob {
    /// A job file with an action and no other file.
    static func of(
        _ action: String = "extendRenewalDate: {extendByDays: 7, extendReasonCode: 3}",
        name: String = "extend",
        input: String? = "query: SELECT 1"
    ) throws -> ActionJob {
        let text = """
            version: 1
            name: \(name)
            app: {bundleId: com.example.game, appAppleId: 1234567890, environment: Production}
            appStore: {issuerId: 57246542-96fe-1a63-e053-0824d011072a, keyId: 2X9R4HXF34, privateKeyFile: key.p8}
            action:
              \(action)
            \(input.map { "input: {\($0)}" } ?? "")
            output: {postgres: {url: "postgresql:///ledger"}}

            """
        return try AcceptedJobs.action.parse(text, path: "/jobs/extend.yaml", environment: [:])
    }
}

extension LeasedRow {
    /// The ID of the request of ``test(_:answer:expiresDateBefore:transactionIDBefore:)`` as text.
    static let requestIDText = "07070707-0707-0707-0707-070707070707"

    /// A row that may have been applied, of `extendRenewalDate` unless `values` are others.
    static func test(
        _ values: [(column: String, value: ActionValue)] = [
            ("original_transaction_id", .text("1")), ("extend_by_days", .integer(7)),
            ("extend_reason_code", .integer(3)),
        ],
        answer: JSONObject? = nil,
        expiresDateBefore: UnixMilliseconds? = .day(10),
        transactionIDBefore: String? = "1"
    ) -> LeasedRow {
        LeasedRow(
            position: 1,
            parameters: ActionParameters(values),
            epoch: 1,
            requestID: Array(repeating: 7, count: 16),
            mayBeApplied: true,
            isLate: false,
            answer: answer,
            expiresDateBefore: expiresDateBefore,
            transactionIDBefore: transactionIDBefore
        )
    }
}

extension UnixMilliseconds {
    /// Midnight of a day in 2026, counted from 1.
    static func day(_ day: Int64) -> UnixMilliseconds {
        UnixMilliseconds(rawValue: 1_767_225_600_000 + (day - 1) * 86_400_000)
    }
}
