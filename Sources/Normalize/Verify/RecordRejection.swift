import SignedData

/// Why a record is not loaded, even if its signature is valid.
struct RecordRejection: Error {
    /// Values of `rejected_records.reason`, in addition to the values of `JWSRejection`.
    enum Reason: String {
        /// The element does not have the documented type.
        case unreadable
        /// The record belongs to another app.
        case bundle
        /// The record belongs to the other environment, or to one that no server may load.
        case environment
        /// The record's app has another Apple ID in the App Store.
        case appAppleId = "app_id"
        /// The notification does not identify its app.
        case noIdentity = "no_identity"
        /// The field with the record's key is missing.
        case missingKey = "missing_key"
        /// The signed records of an answer contradict what Apple answered about them without signing it.
        case contradiction
        /// Two different notifications have the same UUID and signedDate.
        case conflict
    }

    let reason: String
    let detail: String

    init(_ reason: Reason, _ detail: String) {
        self.reason = reason.rawValue
        self.detail = detail
    }

    init(_ rejection: JWSRejection) {
        reason = rejection.reason.rawValue
        detail = rejection.detail
    }
}
