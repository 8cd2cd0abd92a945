import AppStoreModel
import Hashing

/// A transaction receipt from before app receipts: `{ "purchase-info" = "<base64>"; … }` with a text of the same form inside.
struct OldTransactionReceipt {
    let bundleId: String?
    /// The original transaction ID, or the transaction ID if there is none.
    let transactionId: TransactionID?

    /// In bytes; such receipts have about 3,000.
    private static let longest = 256 * 1_024

    /// Fails for another text.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count <= Self.longest, let encoded = Self.members(of: bytes)["purchase-info"],
            let info = ReceiptText.decoded(Array(encoded))
        else { return nil }
        let members = Self.members(of: info[...]).mapValues { String(decoding: $0, as: UTF8.self) }
        bundleId = members["bid"]
        transactionId =
            ["original-transaction-id", "transaction-id"].lazy
            .compactMap { members[$0].flatMap(TransactionID.init) }.first
    }

    /// The members whose name and value are texts in quotes, with an equals sign between them.
    private static func members(of text: ArraySlice<UInt8>) -> [String: ArraySlice<UInt8>] {
        let parts = text.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        var members: [String: ArraySlice<UInt8>] = [:]
        var place = 1
        while place + 2 < parts.count {
            let between = parts[place + 1].filter { $0 > UInt8(ascii: " ") }
            if between == [UInt8(ascii: "=")] {
                members[String(decoding: parts[place], as: UTF8.self)] = parts[place + 2]
                place += 2
            }
            place += 2
        }
        return members
    }
}
