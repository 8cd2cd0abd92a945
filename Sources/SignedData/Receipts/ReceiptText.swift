package import AppStoreModel
import Hashing
import StrictJSON

/// Why a receipt gives no transaction ID.
package enum ReceiptDefect: String, Error, CaseIterable, Sendable {
    /// There is nothing in its place.
    case missing
    /// A receipt from before the customer's first purchase.
    case withoutPurchases
    case ofAnotherApp
    /// Of Xcode's tests, whose IDs Apple does not know.
    case fromXcode
    /// It has no transaction ID where one must be.
    case withoutID
    /// It is no receipt, or cut off.
    case damaged

    /// Whether the customer of the receipt can be one of the app, whose ID is lost with it.
    package var losesCustomer: Bool { self == .withoutID || self == .damaged }
}

/// The texts from which a transaction ID of a customer is read: app receipts, old transaction receipts and signed transactions.
///
/// Nothing is verified, because the ID only serves to ask Apple.
package enum ReceiptText {
    /// The transaction ID of one text.
    ///
    /// - Parameters:
    ///   - text: Base64 or base64url of a receipt, once or twice, or a signed transaction (JWS). White space anywhere is ignored.
    ///   - bundleId: A receipt that names another app is refused.
    package static func transactionId(
        in text: ArraySlice<UInt8>,
        of bundleId: String
    ) throws(ReceiptDefect) -> TransactionID {
        var text = text.filter { $0 > UInt8(ascii: " ") }
        guard !text.isEmpty else { throw .missing }
        for _ in 0..<2 {
            if text.starts(with: "eyJ".utf8), text.contains(UInt8(ascii: ".")) {
                return try transactionId(inSigned: text, of: bundleId)
            }
            guard let bytes = decoded(text) else { throw .damaged }
            if bytes.first == sequence { return try transactionId(inReceipt: bytes, of: bundleId) }
            text = bytes.filter { $0 > UInt8(ascii: " ") }
            if text.first == UInt8(ascii: "{") { return try transactionId(inOldReceipt: bytes, of: bundleId) }
        }
        throw .damaged
    }

    /// Whether a text is a receipt or a signed transaction, also one without a transaction ID of the app.
    package static func isReceipt(_ text: ArraySlice<UInt8>, of bundleId: String) -> Bool {
        do throws(ReceiptDefect) {
            _ = try transactionId(in: text, of: bundleId)
            return true
        } catch {
            return error != .missing && error != .damaged
        }
    }

    /// The bytes of base64 or base64url, with or without padding; `nil` for another text.
    static func decoded(_ text: [UInt8]) -> [UInt8]? {
        var text = text
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        for place in text.indices {
            switch text[place] {
            case UInt8(ascii: "+"): text[place] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): text[place] = UInt8(ascii: "_")
            default: break
            }
        }
        return Base64.decodeURL(text.span)
    }

    /// The first byte of an app receipt: a SEQUENCE.
    private static let sequence: UInt8 = 0x30

    private static func transactionId(
        inReceipt bytes: [UInt8],
        of bundleId: String
    ) throws(ReceiptDefect) -> TransactionID {
        guard let receipt = try? AppReceipt(bytes[...]) else { throw .damaged }
        guard receipt.environment?.hasPrefix("Xcode") != true else { throw .fromXcode }
        try check(receipt.bundleId, of: bundleId)
        guard receipt.hasPurchases else { throw .withoutPurchases }
        guard let id = receipt.transactionId else { throw .withoutID }
        return id
    }

    private static func transactionId(
        inOldReceipt bytes: [UInt8],
        of bundleId: String
    ) throws(ReceiptDefect) -> TransactionID {
        guard let receipt = OldTransactionReceipt(bytes[...]) else { throw .damaged }
        try check(receipt.bundleId, of: bundleId)
        guard let id = receipt.transactionId else { throw .withoutID }
        return id
    }

    private static func transactionId(
        inSigned text: [UInt8],
        of bundleId: String
    ) throws(ReceiptDefect) -> TransactionID {
        guard let parts = try? CompactJWS(text.span, maximumBytes: StrictJSON.sizeLimit),
            let bytes = Base64.decodeURL(text.span.extracting(parts.payload)),
            let payload = try? StrictJSON.scanObject(bytes)
        else { throw .damaged }
        let local = ["Xcode", "LocalTesting"]
        guard !local.contains(payload["environment"]?.string ?? "") else { throw .fromXcode }
        try check(payload["bundleId"]?.string, of: bundleId)
        let ids = ["transactionId", "originalTransactionId"].lazy
        guard let id = ids.compactMap({ payload[$0]?.string.flatMap(TransactionID.init) }).first else {
            throw .withoutID
        }
        return id
    }

    private static func check(_ found: String?, of bundleId: String) throws(ReceiptDefect) {
        guard found == nil || found == bundleId else { throw .ofAnotherApp }
    }
}
