package import AppStoreModel
import Basics
import LedgerSchema
import SignedData
import StrictJSON

/// An ID in a record that identifies the customer.
package struct CustomerID: Hashable, Sendable {
    /// The raw values are part of the tombstones and must not change.
    enum Kind: String {
        /// A transaction ID or original transaction ID; the first transaction of a chain has both.
        case transaction
        /// Apple's ID for one Apple Account's download of the app.
        case appTransaction
        /// The developer's ID for the customer.
        case account
    }

    let kind: Kind
    let text: String

    private init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    package static func transaction(_ id: TransactionID) -> Self { Self(kind: .transaction, text: id.text) }

    static func transaction(_ id: String) -> Self { Self(kind: .transaction, text: id) }

    static func appTransaction(_ id: String) -> Self { Self(kind: .appTransaction, text: id) }

    /// - Parameter uuid: In the form 8-4-4-4-12, in upper or lower case.
    /// - Returns: `nil` for other text and for the nil UUID, which apps send when they have no account.
    package static func account(_ uuid: String) -> Self? {
        UUIDText.bytes(of: uuid).flatMap(account)
    }

    private static func account(_ bytes: [UInt8]) -> Self? {
        guard bytes.contains(where: { $0 != 0 }) else { return nil }
        return Self(kind: .account, text: UUIDText.text(of: bytes))
    }

    init?(_ kind: Kind, _ cell: Cell) {
        switch (kind, cell) {
        case (.account, .uuid(let bytes)) where bytes.count == 16:
            guard let id = Self.account(bytes) else { return nil }
            self = id
        case (.transaction, .text(let text)), (.appTransaction, .text(let text)):
            self.init(kind: kind, text: text)
        default:
            return nil
        }
    }

    // `String` equality would treat different Unicode spellings as equal.
    package static func == (left: Self, right: Self) -> Bool {
        left.kind == right.kind && left.text.isByteEqual(to: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(ExactText(text))
    }
}

extension UInt8 {
    var isHexadecimalDigit: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
