/// Why a signed record is rejected.
///
/// The record goes to `rejected_records`, and the run continues.
package struct JWSRejection: Error, Equatable, CustomStringConvertible {
    /// The value of `rejected_records.reason`.
    package enum Reason: String, CaseIterable, Sendable {
        /// Not three segments, or other text around them.
        case format
        /// The whole text is longer than allowed.
        case size
        case headerSize = "header_size"
        /// A segment is not strict base64url.
        case base64
        /// A header member is missing or of the wrong type.
        case header
        /// Not ES256.
        case alg
        /// `crit` or `b64`: extensions that change what the signature covers.
        case crit
        /// An `x5c` entry is not strict base64 of one certificate of allowed size.
        case x5c
        case x5cLength = "x5c_len"
        /// The leaf's key is not on the named curve P-256.
        case leafKey = "leaf_key"
        /// The leaf lacks Apple's marker for App Store receipt signing.
        case leafMarker = "leaf_oid"
        /// The intermediate lacks Apple's marker for WWDR authorities.
        case intermediateMarker = "int_oid"
        /// The leaf is an authority's certificate.
        case leafIsAuthority = "leaf_is_ca"
        /// The certificates are not a valid chain to a trusted root.
        case chain
        /// The record was signed when a certificate of its chain was not valid.
        case validity
        case signatureLength = "sig_len"
        case signature
        case encoding
        case duplicateKey = "dup_key"
        case nul
        case json
        case jsonDepth = "json_depth"
        /// The signing date is missing or is not a moment in milliseconds.
        case signedDate = "signed_date"
        /// The signing date is more than a day in the future.
        case future
    }

    package let reason: Reason
    /// One sentence in printable ASCII, with at most a short excerpt of the record.
    package let detail: String

    init(_ reason: Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    package var description: String { "\(reason.rawValue): \(detail)" }
}
