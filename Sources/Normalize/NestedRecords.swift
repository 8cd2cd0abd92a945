import AppStoreModel
import LedgerSchema
import SignedData
import StrictJSON

/// The verified records signed inside a notification.
struct NestedRecords {
    let transaction: MappedRecord?
    let renewal: MappedRecord?
    let appTransaction: MappedRecord?

    /// Columns of a notification that say which purchase it is about.
    static let purchaseColumns = [
        "transaction_id", "original_transaction_id", "web_order_line_item_id", "app_transaction_id", "product_id",
        "subscription_group_identifier", "app_account_token",
    ]

    /// What they say of a column: the transaction knows best, then the renewal, then the app transaction.
    subscript(column: String) -> Cell {
        let purchase = Self.purchaseColumns.contains(column) ? [transaction, renewal] : []
        let cells = (purchase + [appTransaction]).compactMap { $0?.reading[column] }
        return cells.first { $0 != .null } ?? .null
    }

    /// The notification's payload with each signed text replaced by what it says, or by `null` when it failed verification.
    ///
    /// Twelve kilobytes of certificates in every row would help nobody; the archive has the texts.
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
        guard let place = members.firstIndex(where: { $0.key.isByteEqual(to: key) }),
            var object = members[place].value.object
        else { return }
        change(&object)
        members[place].value = .object(object)
    }

    fileprivate mutating func replaceSigned(_ key: String, with record: MappedRecord?) {
        guard let place = members.firstIndex(where: { $0.key.isByteEqual(to: key) }) else { return }
        members[place].value = record?.payload.json.value ?? .null
    }
}
