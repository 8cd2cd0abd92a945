package import AppStoreModel
import Basics
import Hashing
import StrictJSON

/// Verifies signed records; the only code that creates a ``VerifiedPayload``.
///
/// Any number of threads may use one verifier and share its cache of chains. With a cached chain, a record takes one
/// P-256 verification.
package final class JWSVerifier: Sendable {
    private let chains: ChainVerifier
    private let cache = ChainCache()

    /// The longest accepted transaction or renewal info.
    package static let maximumBytes = 64 * 1_024
    /// The longest accepted notification, which contains two other records.
    package static let maximumNotificationBytes = 256 * 1_024

    /// - Parameter trustedRoots: DER certificates of the trusted authorities.
    /// - Throws: ``CertificateError`` with the root that cannot be used.
    package init(trustedRoots: [[UInt8]] = [AppleRootCA.g3]) throws(CertificateError) {
        chains = try ChainVerifier(trustedRoots: trustedRoots)
    }

    /// Verifies one record in the form that Apple sends.
    ///
    /// - Parameters:
    ///   - jws: Compact serialisation, without surrounding text.
    ///   - now: The database's clock; a record signed more than 24 hours later is rejected.
    ///   - maximumBytes: The longest accepted text.
    /// - Throws: ``JWSRejection`` with the first rule that the record breaks.
    package func verify(
        _ jws: String,
        now: UnixMilliseconds,
        maximumBytes: Int = JWSVerifier.maximumBytes
    ) throws(JWSRejection) -> VerifiedPayload {
        let text = jws.utf8.span
        let parts = try CompactJWS(text, maximumBytes: maximumBytes)
        let header = try verifiedHeader(text.extracting(parts.header))
        guard let payload = Base64.decodeURL(text.extracting(parts.payload)) else {
            throw JWSRejection(.base64, "The payload is not strict base64url.")
        }
        guard let signature = Base64.decodeURL(text.extracting(parts.signature)) else {
            throw JWSRejection(.base64, "The signature is not strict base64url.")
        }
        return try verify(
            header: header,
            payload: payload,
            signature: signature,
            segment: text.extracting(parts.payload),
            now: now
        )
    }

    /// Verifies one record of the raw archive again, with the same result as for its text.
    ///
    /// The text is assembled only when it would be too long, the payload is empty or the header is not cached. With a
    /// cached header, no other rule about the text's form can be broken.
    ///
    /// - Parameters:
    ///   - now: The database's clock; a record signed more than 24 hours later is rejected.
    ///   - maximumBytes: The longest accepted text.
    /// - Returns: The verified payload, as at the first verification.
    /// - Throws: ``JWSRejection`` with the first rule that the record breaks.
    package func verify(
        _ parts: JWSParts,
        now: UnixMilliseconds,
        maximumBytes: Int = JWSVerifier.maximumBytes
    ) throws(JWSRejection) -> VerifiedPayload {
        guard !parts.payload.isEmpty, parts.textByteCount <= maximumBytes, let header = cache[parts.header.span] else {
            return try verify(parts.text, now: now, maximumBytes: maximumBytes)
        }
        let segment = Base64.encodeURL(parts.payload)
        return try verify(
            header: header,
            payload: parts.payload,
            signature: parts.signature,
            segment: segment.span,
            now: now
        )
    }

    /// The number of cached chains.
    var cachedChainCount: Int { cache.count }

    private func verifiedHeader(_ text: Span<UInt8>) throws(JWSRejection) -> VerifiedHeader {
        if let known = cache[text] { return known }
        let x5c = try JWSHeader(text: text).x5c
        let chain: VerifiedChain
        do { chain = try chains.verify(x5c: x5c) } catch {
            // A rejected chain is verified again, and the second result counts. When memory is short, OpenSSL can
            // reject a valid chain, sometimes without naming this reason.
            chain = try chains.verify(x5c: x5c)
        }
        let header = VerifiedHeader(text: [UInt8](copying: text), chain: chain)
        cache.insert(header)
        return header
    }

    /// `segment` is the base64url text of `payload`.
    private func verify(
        header: VerifiedHeader,
        payload: [UInt8],
        signature: [UInt8],
        segment: Span<UInt8>,
        now: UnixMilliseconds
    ) throws(JWSRejection) -> VerifiedPayload {
        guard signature.count == ES256.signatureByteCount else {
            throw JWSRejection(.signatureLength, "The signature has \(signature.count) bytes; it must have 64.")
        }
        let chain = header.chain
        guard header.signatures.accepts(signature.span, of: segment) else {
            throw JWSRejection(.signature, "The signature is not the leaf's signature of this record.")
        }
        let json = try JSONElement.strictObject(payload, in: "payload")
        let signedDate = try SignedDate(in: json, now: now)
        guard chain.validity.contains(signedDate.moment) else {
            let window = "\(chain.validity.lowerBound.rawValue)...\(chain.validity.upperBound.rawValue)"
            throw JWSRejection(
                .validity,
                "It was signed at \(signedDate.moment.rawValue); its certificates are valid in \(window)."
            )
        }
        return VerifiedPayload(
            header: header.text,
            payload: payload,
            signature: signature,
            json: json,
            signedDate: signedDate,
            rootDiffers: chain.rootDiffers
        )
    }
}
