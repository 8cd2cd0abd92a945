import AppStoreModel
import Postgres
import SignedData
import StrictJSON

/// The verified records signed inside a notification.
struct NestedRecords {
    let transaction: MappedRecord?
    let renewal: MappedRecord?
    let appTransaction: MappedRecord?

    /// Columns of a notification that identify its purchase.
    static let purchaseColumns = [
        "transaction_id", "original_transaction_id", "web_order_line_item_id", "app_transaction_id", "product_id",
        "subscription_group_identifier", "app_account_token",
    ]

    /// The first value of a column that is not NULL, in the transaction, the renewal and the app transaction, in this
    /// order.
    ///
    /// Transaction and renewal only count for ``purchaseColumns``.
    subscript(column: String) -> Cell {
        let purchase = Self.purchaseColumns.contains(column) ? [transaction, renewal] : []
        let cells = purchase.compactMap { $0?.reading[column] } + [appTransactionCell(column)]
        return cells.first { $0 != .null } ?? .null
    }

    /// A notification has its own dates and its own payload, so the other columns of its app transaction have a prefix.
    private func appTransactionCell(_ column: String) -> Cell {
        guard let reading = appTransaction?.reading else { return .null }
        let prefix = "app_transaction_"
        if column.hasPrefix(prefix), column != "app_transaction_id" {
            return reading[String(column.dropFirst(prefix.count))]
        }
        return Self.sharedColumns.contains(column) ? reading[column] : .null
    }

    /// Columns without a prefix that an app transaction can fill.
    private static let sharedColumns = ["app_transaction_id", "bundle_id", "app_apple_id"]

    /// The notification's payload, in which each signed text is replaced by its payload, or by `null` if
    /// it failed verification.
    ///
    /// The signed texts contain about 12 KB of certificates, and the archive has them.
    func payloadJSON(of notification: MappedRecord) -> [UInt8] {
        var payload = notification.payload.json.object ?? JSONObject()
        payload.replaceMember("data") { data in
            data.replaceSigned("signedTransactionInfo", with: transaction)
            data.replaceSigned("signedRenewalInfo", with: renewal)
        }
        payload.replaceMember("appData") { data in
            data.replaceSigned("signedAppTransactionInfo", with: appTransaction)
        }
        return JSONWriter.bytes(.object(payload))
    }
}

extension JSONObject {
    fileprivate mutating func replaceMember(_ key: String, change: (inout JSONObject) -> Void) {
        guard let index = members.firstIndex(where: { $0.key.isByteEqual(to: key) }),
            var object = members[index].value.object
        else { return }
        change(&object)
        members[index].value = .object(object)
    }

    fileprivate mutating func replaceSigned(_ key: String, with record: MappedRecord?) {
        guard let index = members.firstIndex(where: { $0.key.isByteEqual(to: key) }) else { return }
        members[index].value = record?.payload.json.value ?? .null
    }
}
