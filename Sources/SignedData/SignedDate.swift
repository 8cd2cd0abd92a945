import AppStoreModel
import StrictJSON

/// The signing date in a payload.
struct SignedDate {
    let moment: UnixMilliseconds
    let wasInexact: Bool

    /// How far in the future a signing date may be.
    ///
    /// A record with a later date would count as the newest snapshot for too long.
    static let toleratedLead = Duration.seconds(24 * 3_600)

    /// 2001-09-09, the first moment with 13 digits.
    ///
    /// A smaller number is in seconds or invalid.
    private static let earliest = UnixMilliseconds(rawValue: 1_000_000_000_000)

    init(in payload: JSONElement, now: UnixMilliseconds) throws(JWSRejection) {
        let signed = payload["signedDate"]
        let key = signed == nil ? "receiptCreationDate" : "signedDate"
        guard let value = signed ?? payload[key] else {
            throw JWSRejection(.signedDate, "The payload has neither signedDate nor receiptCreationDate.")
        }
        let exact = value.int64
        guard let floored = exact ?? value.number?.flooredInt64 else {
            throw JWSRejection(.signedDate, "\(key) is not a number of milliseconds.")
        }
        moment = UnixMilliseconds(rawValue: floored)
        wasInexact = exact == nil
        guard moment >= Self.earliest else {
            throw JWSRejection(.signedDate, "\(key) is \(floored); in milliseconds it must have at least 13 digits.")
        }
        guard moment <= now + Self.toleratedLead else {
            throw JWSRejection(.future, "\(key) is \(floored), more than 24 hours after now (\(now.rawValue)).")
        }
    }
}
