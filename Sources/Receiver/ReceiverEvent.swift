package import Basics

/// What a receiver reports to its operator.
package enum ReceiverEvent: Sendable {
    /// The receiver accepts connections on this port.
    case listening(port: Int)
    /// Something that the operator should know.
    case remark(String)
    /// A notification cannot be verified.
    case refused(reason: String, detail: String)
    /// A verified notification was answered 503, because it could not be stored.
    case notStored(any Error)
    /// Notifications cannot be normalised now; the receiver tries again.
    case notNormalized(any Error)
    /// PostgreSQL does not take the records of one notification, which is skipped until the receiver starts again.
    case skipped(key: String, any Error)
    /// A notification could not be delivered to a URL of `receiver.forward`, which is named without its query; it is posted again.
    case notForwarded(url: String, reason: String)
    /// The notifications to forward cannot be read or recorded now; the receiver tries again.
    case forwardingWaits(any Error)
}

/// The receiver cannot listen on its address.
package struct CannotListen: ExplainedError {
    package let address: String
    package let reason: String

    package var status: ExitStatus { .configuration }

    package var sentence: String {
        "cannot listen on \(address): \(reason). Name an address of this machine and a free port (receiver.listen or --listen)"
    }
}
