package import AppStoreModel
import Basics
import Postgres
import StrictJSON

/// An ID in a record that identifies the customer.
package struct CustomerID: Hashable, Sendable {
    /// The field that the ID comes from.
    ///
    /// The raw values are part of the tombstones and must not change.
    package enum Kind: String, Sendable {
        /// A transaction ID or original transaction ID; the first transaction of a chain has both.
        case transaction
        /// Apple's ID for one Apple Account's download of the app.
        case appTransaction
        /// The developer's ID for the customer.
        case account
        /// An order ID, from a customer's receipt.
        case order
    }

    package let kind: Kind
    /// As the record has it; an account token in the form 8-4-4-4-12, in lower case.
    package let text: String

    private init(kind: Kind, text: String) {
        self.kind = kind
        self.text = text
    }

    /// The ID of a transaction, or an original transaction ID.
    package static func transaction(_ id: TransactionID) -> Self { Self(kind: .transaction, text: id.text) }

    /// The same, for an ID from a record or a text, which is not checked.
    package static func transaction(_ id: String) -> Self { Self(kind: .transaction, text: id) }

    /// An `appTransactionId`, which is not checked.
    package static func appTransaction(_ id: String) -> Self { Self(kind: .appTransaction, text: id) }

    /// An order ID, which is not checked.
    package static func order(_ id: String) -> Self { Self(kind: .order, text: id) }

    /// Whether an item of a crawl can have the ID as its key.
    var isItemKey: Bool { kind == .transaction || kind == .order }

    /// An `appAccountToken`.
    ///
    /// - Parameter uuid: In the form 8-4-4-4-12, in upper or lower case.
    /// - Returns: `nil` for other text and for the nil UUID, which apps send when they have no account.
    package static func account(_ uuid: String) -> Self? {
        UUIDText.bytes(of: uuid).flatMap(account)
    }

    /// The same, for a UUID that someone has written: also in braces, after `urn:uuid:`, or without hyphens.
    package static func account(anyForm uuid: String) -> Self? {
        UUIDText.bytes(ofAnyForm: uuid).flatMap(account)
    }

    private static func account(_ bytes: [UInt8]) -> Self? {
        guard bytes.contains(where: { $0 != 0 }) else { return nil }
        return Self(kind: .account, text: UUIDText.text(of: bytes))
    }

    /// The ID in a column of a row; `nil` for NULL, the nil UUID, and a cell of another type.
    init?(_ kind: Kind, _ cell: Cell) {
        switch (kind, cell) {
        case (.account, .uuid(let bytes)) where bytes.count == 16:
            guard let id = Self.account(bytes) else { return nil }
            self = id
        case (.transaction, .text(let text)), (.appTransaction, .text(let text)), (.order, .text(let text)):
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
