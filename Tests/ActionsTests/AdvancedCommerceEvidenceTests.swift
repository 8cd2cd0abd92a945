import ActionKinds
import AppStoreModel
import Normalize
import StrictJSON
import Testing

@testable import Actions

/// What signed data proves about an Advanced Commerce request whose answer was lost.
struct AdvancedCommerceEvidenceTests {
    private func row(before: String?, items: String? = nil) throws -> LeasedRow {
        var values: [(column: String, value: ActionValue)] = [("transaction_id", .text("3"))]
        if let items { values.append(("items", .json(try StrictJSON.parse(Array(items.utf8))))) }
        var row = LeasedRow.test(values)
        row.originalTransactionID = "1"
        row.requestReferenceIDBefore = before
        return row
    }

    private func transaction(
        _ id: String = "3",
        reference: String? = nil,
        revoked: UnixMilliseconds? = nil
    ) -> VerifiedTransaction {
        VerifiedTransaction(
            transactionId: id,
            originalTransactionId: "1",
            expiresDate: .day(10),
            appAccountToken: nil,
            revocationDate: revoked,
            requestReferenceId: reference
        )
    }

    private func renewal(
        _ reference: String? = nil,
        status: Int64 = 1,
        items: [VerifiedRenewal.Item] = []
    ) -> VerifiedRenewal {
        VerifiedRenewal(
            originalTransactionId: "1",
            autoRenewStatus: status,
            requestReferenceId: reference,
            items: items
        )
    }

    private func evidence(
        _ row: LeasedRow,
        _ effect: AdvancedCommerceEffect?,
        _ transactions: [VerifiedTransaction],
        _ renewals: [VerifiedRenewal]
    ) -> Evidence {
        let records = SignedRecords(transactions: transactions, renewals: renewals)
        return Evidence(of: row, in: records, .advancedCommerceSubscription(effect), subject: "3")
    }

    @Test func `the row's own requestReferenceId proves the request, in either record`() throws {
        let row = try row(before: "old")
        let own = LeasedRow.requestIDText
        #expect(
            evidence(row, nil, [transaction()], [renewal(own)])
                == .applied("requestReferenceId of the renewal info of 1")
        )
        #expect(
            evidence(row, nil, [transaction(reference: own)], [renewal("old")])
                == .applied("requestReferenceId of transaction 3")
        )
        let records = SignedRecords(transactions: [transaction(reference: own)])
        #expect(
            Evidence(of: row, in: records, .advancedCommerceTransaction, subject: "3")
                == .applied("requestReferenceId of transaction 3")
        )
        // Another subscription of the customer proves nothing.
        let other = VerifiedRenewal(originalTransactionId: "9", autoRenewStatus: 0, requestReferenceId: own)
        #expect(
            evidence(row, .automaticRenewalIsOff, [], [other]) == .undecided("Apple's answer has no transaction of 1")
        )
    }

    @Test func `the ID that the plan knew shows that nothing was applied, and another one proves nothing`() throws {
        #expect(
            evidence(try row(before: "old"), nil, [transaction()], [renewal("old")])
                == .notApplied("requestReferenceId is old, as before")
        )
        #expect(
            evidence(try row(before: nil), nil, [transaction()], [renewal()])
                == .notApplied("requestReferenceId is missing, as before")
        )
        #expect(
            evidence(try row(before: "old"), nil, [transaction()], [renewal("newer")])
                == .undecided("requestReferenceId is newer; another request may have replaced it")
        )
        #expect(
            Evidence(
                of: try row(before: "old"),
                in: SignedRecords(transactions: [transaction("4", reference: "old")]),
                .advancedCommerceTransaction,
                subject: "3"
            ) == .undecided("Apple's answer has no transaction 3")
        )
    }

    @Test func `after a later request the effect proves what the ID no longer does`() throws {
        let row = try row(before: "old", items: #"[{"SKU":"a","price":9990},{"SKU":"b","price":500}]"#)
        #expect(
            evidence(row, .automaticRenewalIsOff, [transaction()], [renewal("newer", status: 0)])
                == .applied("autoRenewStatus 0")
        )
        #expect(
            evidence(row, .isRevoked, [transaction(revoked: .day(5))], [renewal("newer")])
                == .applied("revocationDate 2026-01-05T00:00:00Z of transaction 3")
        )
        func prices(_ items: VerifiedRenewal.Item...) -> Evidence {
            evidence(row, .pricesAreChanged, [transaction()], [renewal("newer", items: items)])
        }
        let lower = VerifiedRenewal.Item(sku: "b", price: 500)
        let rising = VerifiedRenewal.Item(sku: "a", price: 4_990, increasedPrice: 9_990)
        #expect(prices(rising, lower) == .applied("the prices of the renewal info"))
        #expect(
            prices(VerifiedRenewal.Item(sku: "a", price: 9_990), lower) == .applied("the prices of the renewal info")
        )
        for others in [
            [rising], [VerifiedRenewal.Item(sku: "a", price: 9_990, increasedPrice: 12_000), lower],
            [VerifiedRenewal.Item(sku: "a", price: 4_990), lower], [],
        ] {
            let found = evidence(row, .pricesAreChanged, [transaction()], [renewal("newer", items: others)])
            #expect(found == .undecided("requestReferenceId is newer; another request may have replaced it"))
        }
    }
}
