package import AppStoreModel

/// A notification that the receiver stores; a row of `received_notifications`.
package struct ReceivedNotification: Sendable, Equatable {
    /// `notification_uuid`; see the comment on the column.
    package let key: String
    /// 1 or 2.
    package let version: Int32
    package let type: String?
    package let subtype: String?
    /// `nil` for version 1.
    package let signedDate: UnixMilliseconds?
    package let originalTransactionId: String?
    /// The signed text; of version 1 only a part without password and receipts.
    package let body: String
    /// SHA-256 of the signed payload; of version 1, of the whole notification without its password.
    package let bodySHA256: [UInt8]
    /// What is posted to further servers; `nil` if it is not forwarded.
    package var forward: Forward?

    /// A notification as it is posted to further servers.
    package struct Forward: Sendable, Equatable {
        /// The ID of the customer or purchase whose notifications are delivered in order; `nil` if it is about none.
        package let customer: String?
        /// The body as Apple posted it.
        package let body: [UInt8]

        package init(customer: String?, body: [UInt8]) {
            self.customer = customer
            self.body = body
        }
    }

    package init(
        key: String,
        version: Int32,
        type: String?,
        subtype: String? = nil,
        signedDate: UnixMilliseconds? = nil,
        originalTransactionId: String?,
        body: String,
        bodySHA256: [UInt8]
    ) {
        self.key = key
        self.version = version
        self.type = type
        self.subtype = subtype
        self.signedDate = signedDate
        self.originalTransactionId = originalTransactionId
        self.body = body
        self.bodySHA256 = bodySHA256
    }

    /// Whether both have the same key and the same content.
    ///
    /// Apple repeats a notification with the same payload, but its signature can differ.
    package func isSame(as other: Self) -> Bool { key == other.key && bodySHA256 == other.bodySHA256 }
}

/// A notification that could not be verified, and why.
package struct RefusedNotification: Sendable, Equatable {
    /// What the text claims; nothing in it is verified.
    ///
    /// Its key is `refused-` and the SHA-256 of the text.
    package let claim: ReceivedNotification
    /// `refused_because`: a code of a fixed list.
    package let reason: String

    package init(claim: ReceivedNotification, reason: String) {
        self.claim = claim
        self.reason = reason
    }
}
