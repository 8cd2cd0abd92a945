import AppStoreModel
import Hashing
import SignedData

extension FuzzTarget {
    /// A cell with a receipt: an ID or the reason why there is none, the same in every notation of the text.
    ///
    /// The first byte chooses: the bytes of a receipt, a text, or changes of a good receipt.
    static let receipt = FuzzTarget(name: "receipt", longestInput: 4_096) { input in
        var reader = InputReader(input)
        switch reader.byte() % 3 {
        case 0: try checkNotations(of: reader.remaining())
        case 1: _ = outcome(of: reader.remaining())
        default:
            let good = try FuzzedReceipts.all.get()
            let receipt = good[Int(reader.byte()) % good.count]
            let changed = edited(receipt, by: &reader)
            let found = try checkNotations(of: changed)
            try promise(changed != receipt || found == "12", "a good receipt gives \(found)")
        }
    }

    /// The ID, or the name of the defect.
    private static func outcome(of text: [UInt8]) -> String {
        do throws(ReceiptDefect) {
            return try ReceiptText.transactionId(in: text[...], of: FuzzedStore.bundleId).text
        } catch {
            return error.rawValue
        }
    }

    @discardableResult
    private static func checkNotations(of bytes: [UInt8]) throws -> String {
        let text = Base64.encodeStandard(bytes)
        let found = outcome(of: text)
        let half = text.count / 2
        for other in [Base64.encodeURL(bytes), text[..<half] + [0x0D, 0x0A] + text[half...]] {
            try promise(outcome(of: other) == found, "the same receipt in another notation is not \(found)")
        }
        return found
    }
}

/// Receipts that give the ID 12: in DER, in BER, and an old one.
private enum FuzzedReceipts {
    static let all = Result {
        let authority = try FuzzedStore.shared().authority
        let receipt = AppReceiptBuilder(
            bundleId: FuzzedStore.bundleId,
            environment: "Production",
            purchases: [.init("34", original: "12")]
        )
        return [
            try receipt.der(signedBy: authority), try receipt.ber(signedBy: authority),
            AppReceiptBuilder.oldReceipt(
                bundleId: FuzzedStore.bundleId,
                transactionId: "12",
                encode: Base64.encodeStandard
            ),
        ]
    }
}
