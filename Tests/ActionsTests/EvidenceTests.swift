import ActionKinds
import AppStoreModel
import Normalize
import StrictJSON
import Testing

@testable import Actions

/// What signed data proves about a request whose answer was lost.
struct EvidenceTests {
    private func transaction(
        _ id: String = "1",
        original: String = "1",
        expires: UnixMilliseconds? = .day(10),
        token: String? = nil
    ) -> VerifiedTransaction {
        VerifiedTransaction(
            transactionId: id,
            originalTransactionId: original,
            expiresDate: expires,
            appAccountToken: token
        )
    }

    private func extended(_ transactions: [VerifiedTransaction], of row: LeasedRow = .test()) -> Evidence {
        Evidence(of: row, in: SignedRecords(transactions: transactions), .expiresDate, subject: "1")
    }

    @Test func `the date before and the days after it prove the outcome of an extension`() {
        #expect(
            extended([transaction(expires: .day(17))])
                == .applied("expiresDate 2026-01-17T00:00:00Z of transaction 1")
        )
        #expect(
            extended([transaction(expires: .day(10))])
                == .notApplied("expiresDate 2026-01-10T00:00:00Z of transaction 1 is unchanged")
        )
        // Apple's date can differ by less than an hour, as when the clocks change.
        let hour = Duration.seconds(3_600)
        for (expires, isApplied) in [
            (UnixMilliseconds.day(17) + hour, true), (.day(17) - hour, true), (.day(17) + hour + .seconds(1), false),
            (.day(16), false), (.day(9), false),
        ] {
            let evidence = extended([transaction(expires: expires)])
            if case .applied = evidence {
                #expect(isApplied, "\(expires)")
            } else if case .undecided = evidence {
                #expect(!isApplied, "\(expires)")
            } else {
                Issue.record("\(evidence)")
            }
        }
    }

    @Test func `another last transaction than the plan knew proves nothing`() {
        let renewed = [transaction(), transaction("2", expires: .day(17))]
        #expect(
            extended(renewed)
                == .undecided(
                    "expiresDate 2026-01-17T00:00:00Z of transaction 2; the subscription has another last transaction than the plan knew"
                )
        )
        #expect(
            extended([transaction("5", original: "5", expires: .day(17))])
                == .undecided("Apple's answer has no transaction of 1")
        )
        #expect(extended([transaction(expires: nil)]) == .undecided("Apple's answer has no transaction of 1"))
        #expect(extended([]) == .undecided("Apple's answer has no transaction of 1"))
        let unknownBefore = LeasedRow.test(expiresDateBefore: nil)
        guard case .undecided = extended([transaction(expires: .day(17))], of: unknownBefore) else {
            Issue.record("a date without one to compare it with proves nothing")
            return
        }
    }

    @Test func `an effectiveDate in the answer to the repeat is compared instead of the days`() {
        let row = LeasedRow.test(
            answer: JSONObject([
                .init(key: "effectiveDate", value: .number(JSONNumber(text: "\(UnixMilliseconds.day(17).rawValue)")))
            ]),
            transactionIDBefore: "another"
        )
        let place = "expiresDate 2026-01-17T00:00:00Z of transaction 1"
        #expect(extended([transaction(expires: .day(17))], of: row) == .applied(place))
        // A renewal makes the date later.
        #expect(
            extended([transaction("2", expires: .day(47))], of: row)
                == .applied("expiresDate 2026-02-16T00:00:00Z of transaction 2")
        )
        // Data from before the request does not prove that it was not applied.
        #expect(
            extended([transaction()], of: row)
                == .undecided("expiresDate 2026-01-10T00:00:00Z of transaction 1 is before effectiveDate")
        )
    }

    @Test func `the date that proves an extension is kept for the next plan`() {
        let records = SignedRecords(
            transactions: [transaction(expires: .day(17)), transaction("5", original: "5", expires: .day(99))]
        )
        let kept = Evidence.kept(of: .test(), in: records, .expiresDate, subject: "1")
        #expect(kept?["expiresDate"]?.number?.int64 == UnixMilliseconds.day(17).rawValue)
        #expect(Evidence.kept(of: .test(), in: records, .appAccountToken, subject: "1") == nil)
    }

    @Test func `a token proves that it was set, and another one proves nothing`() {
        let token = "7e3fb20b-4cdb-47cc-936d-99d65f608138"
        let row = LeasedRow.test(
            [("original_transaction_id", .text("1")), ("app_account_token", .text(token))],
            transactionIDBefore: "3"
        )
        func evidence(_ transactions: [VerifiedTransaction]) -> Evidence {
            Evidence(of: row, in: SignedRecords(transactions: transactions), .appAccountToken, subject: "1")
        }
        #expect(evidence([transaction("3", token: token)]) == .applied("appAccountToken of transaction 3"))
        #expect(evidence([transaction("3")]) == .undecided("appAccountToken of transaction 3 is another one"))
        #expect(evidence([transaction("1", token: token)]) == .undecided("Apple's answer has no transaction of 1"))
    }
}
