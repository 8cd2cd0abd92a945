import AppStoreModel
import Hashing
import SignedData

/// The receipts that `receipts.csv` has: one of each of the first customers, and two that give no ID.
struct ExampleReceipts: Sendable {
    /// A list with a header, one base64 text in a row.
    let list: String

    /// The most customers in the list, because each receipt is signed.
    private static let mostCustomers = 100

    /// Every fourth customer has an old transaction receipt, the others have app receipts.
    init(of world: World, signedBy authority: CertificateAuthority) throws(CertificateError) {
        let bundleId = world.app.bundleId
        let environment = world.app.environment == .production ? "Production" : "ProductionSandbox"
        func receipt(_ environment: String, _ purchases: [AppReceiptBuilder.Purchase]) -> AppReceiptBuilder {
            AppReceiptBuilder(bundleId: bundleId, environment: environment, purchases: purchases)
        }
        var receipts: [[UInt8]] = []
        for (index, customer) in world.customers.prefix(Self.mostCustomers).enumerated() {
            let first = world.ids.id(customer: index, position: 0)
            if index % 4 == 1 {
                receipts.append(
                    AppReceiptBuilder.oldReceipt(
                        bundleId: bundleId,
                        transactionId: String(first),
                        encode: Base64.encodeStandard
                    )
                )
            } else {
                let purchases = customer.transactions.prefix(2).map { transaction in
                    AppReceiptBuilder.Purchase(String(transaction.id), original: String(transaction.originalId))
                }
                receipts.append(try receipt(environment, purchases).der(signedBy: authority))
            }
        }
        receipts.append(try receipt(environment, []).der(signedBy: authority))
        receipts.append(try receipt("Xcode", [.init("0", original: "0")]).ber(signedBy: authority))
        list =
            "receipt\n"
            + receipts.map { String(decoding: Base64.encodeStandard($0), as: UTF8.self) + "\n" }.joined()
    }
}
