import SignedData

/// Why a record that may well be signed is not loaded.
struct RecordRejection: Error {
    /// Words of `rejected_records.reason`, beside those of `JWSRejection`.
    enum Reason: String {
        /// Not the element the documentation promises.
        case unreadable
        /// Of another app.
        case bundle
        /// Of the other environment, or of one that no server may load.
        case environment
        /// Of an app with another number in the App Store.
        case appAppleId = "app_id"
        /// A notification that does not say which app it is about.
        case noIdentity = "no_identity"
        /// Without the field that names the record.
        case missingKey = "missing_key"
        /// Two different notifications with one UUID and one signedDate.
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
