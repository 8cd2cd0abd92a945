import AppStoreModel
import LedgerSchema
import Postgres
import Testing

struct AdvancedCommerceTests {
    @Test
    func `line items, their offers and their refunds are rows of the transaction`() throws {
        let world = try RecordWorld()
        let info = """
            {"requestReferenceId":"ref","period":"P1M","taxCode":"C1","taxRate":"0.2","taxExclusivePrice":8000,"estimatedTax":1990,
            "descriptors":{"description":"d","displayName":"n"},"items":[
            {"SKU":"a","description":"da","displayName":"na","price":5000,"revocationDate":1779999000000,
             "offer":{"period":"P1W","periodCount":2,"price":0,"reason":"ACQUISITION"},
             "refunds":[{"refundDate":1779999000000,"refundAmount":100,"refundType":"FULL","refundReason":"LEGAL"},{"refundAmount":200}]},
            7,
            {"SKU":"b","price":"4990","refunds":[{"refundAmount":300}]}]}
            """
        let rows = try world.normalize(transactions: world.transaction(["advancedCommerceInfo": info]))
        let snapshot = try #require(rows.snapshots.first)
        #expect(snapshot.cell("advanced_commerce_request_reference_id") == .text("ref"))
        #expect(snapshot.cell("advanced_commerce_tax_rate") == .text("0.2"))
        #expect(snapshot.cell("advanced_commerce_tax_exclusive_price_milliunits") == .bigint(8_000))
        #expect(snapshot.cell("advanced_commerce_estimated_tax_milliunits") == .bigint(1_990))
        #expect(snapshot.cell("advanced_commerce_description") == .text("d"))
        #expect(snapshot.cell("advanced_commerce_display_name") == .text("n"))

        let items = try #require(snapshot.rows(of: Tables.advancedCommerceItems))
        #expect(items.map { $0["sku"] } == [.text("a"), .text("b")])
        #expect(items.map { $0["position"] } == [.integer(0), .integer(2)])
        #expect(items.allSatisfy { $0["owner_kind"] == .text("transaction") && $0["currency"] == .text("USD") })
        #expect(items.allSatisfy { $0["owner_key"] == .text("2000000000000001") })
        #expect(items[0]["price_milliunits"] == .bigint(5_000))
        #expect(items[0]["revocation_date"] == .timestamp(1_779_999_000_000))
        #expect(items[0]["offer_period"] == .text("P1W"))
        #expect(items[0]["offer_period_count"] == .integer(2))
        #expect(items[0]["offer_price_milliunits"] == .bigint(0))
        #expect(items[0]["offer_reason"] == .text("ACQUISITION"))
        #expect(items[1]["price_milliunits"] == .null)

        let refunds = try #require(snapshot.rows(of: Tables.advancedCommerceRefunds))
        #expect(refunds.map { $0["refund_amount_milliunits"] } == [.bigint(100), .bigint(200), .bigint(300)])
        #expect(refunds.map { $0["item_position"] } == [.integer(0), .integer(0), .integer(2)])
        #expect(refunds.map { $0["position"] } == [.integer(0), .integer(1), .integer(0)])
        #expect(refunds[0]["refund_type"] == .text("FULL"))

        #expect(rows.issues.map(\.path) == ["advancedCommerceInfo.items[1]", "advancedCommerceInfo.items[2].price"])
        #expect(rows.drift.isEmpty)
    }

    @Test
    func `a renewal's items carry their price increase`() throws {
        let world = try RecordWorld()
        let info = """
            {"consistencyToken":"t","items":[{"SKU":"a","priceIncreaseInfo":{"price":6000,"status":"PENDING","dependentSKUs":["b","c"]}}]}
            """
        let signed = try world.sign(world.renewal(["advancedCommerceInfo": info, "currency": #""EUR""#]))
        let rows = try world.normalize(
            notifications: world.notification(["data": world.data(["signedRenewalInfo": "\"\(signed)\""])])
        )
        let snapshot = try #require(rows.snapshots(of: Tables.renewals).first)
        let item = try #require(snapshot.rows(of: Tables.advancedCommerceItems)?.first)
        #expect(rows.remarks == [])
        #expect(snapshot.cell("advanced_commerce_consistency_token") == .text("t"))
        #expect(item["owner_kind"] == .text("renewal"))
        #expect(item["owner_key"] == .text("2000000000000000"))
        #expect(item["currency"] == .text("EUR"))
        #expect(item["price_increase_price_milliunits"] == .bigint(6_000))
        #expect(item["price_increase_status"] == .text("PENDING"))
        #expect(item["price_increase_dependent_skus"] == .textArray(["b", "c"]))
    }

    @Test
    func `a snapshot without items replaces the items of the one before by none`() throws {
        let world = try RecordWorld()
        let snapshot = try #require(try world.normalize(transactions: world.transaction()).snapshots.first)
        #expect(snapshot.children.map(\.table) == RecordKind.transaction.children)
        #expect(snapshot.children.allSatisfy { $0.rows.isEmpty })
    }
}
