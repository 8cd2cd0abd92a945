import AppStoreModel

/// The four things Apple signs, by the words the archive, drift and issues use.
enum RecordKind: String {
    case transaction
    case renewalInfo
    case notification
    case appTransaction

    var shape: ObjectShape {
        switch self {
        case .transaction: .transaction
        case .renewalInfo: .renewalInfo
        case .notification: .notification
        case .appTransaction: .appTransaction
        }
    }

    /// The field that names the record.
    var keyField: String {
        switch self {
        case .transaction: "transactionId"
        case .renewalInfo: "originalTransactionId"
        case .notification: "notificationUUID"
        case .appTransaction: "appTransactionId"
        }
    }
}
