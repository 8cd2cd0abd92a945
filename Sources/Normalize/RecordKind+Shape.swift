import AppStoreModel
import LedgerSchema

extension RecordKind {
    /// The fields that Apple documents.
    var shape: ObjectShape {
        switch self {
        case .transaction: .transaction
        case .renewalInfo: .renewalInfo
        case .notification: .notification
        case .appTransaction: .appTransaction
        }
    }
}
