package import AppStoreModel
import StrictJSON

/// Turns signed text into verified bytes; the only maker of ``VerifiedPayload``.
///
/// Any number of threads may use one verifier; they share its verdicts on chains. A record costs one P-256
/// verification once its header has been seen.
package final class JWSVerifier: Sendable {
    private let judge: ChainJudge
    private let cache = ChainCache()

    /// The longest transaction or renewal info that is read.
    package static let maximumBytes = 64 * 1_024
    /// The longest notification that is read: it carries two further records.
    package static let maximumNotificationBytes = 256 * 1_024

    /// - Parameter trustedRoots: DER certificates of the authorities to believe.
    /// - Throws: ``CertificateError`` naming the root that cannot be one.
    package init(trustedRoots: [[UInt8]] = [AppleRootCA.g3]) throws(CertificateError) {
        judge = try ChainJudge(trustedRoots: trustedRoots)
    }

    /// Verifies one record as Apple sends it.
    ///
    /// - Parameters:
    ///   - jws: Compact serialisation, and nothing around it.
    ///   - now: The database's clock; a record signed more than 24 hours later is refused.
    ///   - maximumBytes: The longest text to look at.
    /// - Returns: The payload and what was learnt about it.
    /// - Throws: ``JWSRejection`` with the first rule the record breaks.
    package func verify(
        _ jws: String,
        now: UnixMilliseconds,
        maximumBytes: Int = JWSVerifier.maximumBytes
    ) throws(JWSRejection) -> VerifiedPayload {
        let text = jws.utf8.span
        let parts = try CompactJWS(text, maximumBytes: maximumBytes)
        let header = try judged(text.extracting(parts.header))
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

    /// Verifies one record of the raw archive again, and judges it as it would judge its text.
    ///
    /// Under a header that is known, only its length and an empty payload can be wrong with the text; so the text is made
    /// for those and for headers that are new.
    ///
    /// - Parameters:
    ///   - parts: The record.
    ///   - now: The database's clock, as for a text.
    ///   - maximumBytes: The longest text that is looked at.
    /// - Returns: What the record gave when it first came.
    /// - Throws: ``JWSRejection`` with the first rule the record breaks.
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

    /// How many chains are remembered.
    var rememberedChainCount: Int { cache.count }

    private func judged(_ text: Span<UInt8>) throws(JWSRejection) -> JudgedHeader {
        if let known = cache[text] { return known }
        let x5c = try JWSHeader(text: text).x5c
        let verdict: ChainVerdict
        do { verdict = try judge.judge(x5c: x5c) } catch {
            // OpenSSL says no, at times without a reason, where it lacks memory: the second no counts.
            verdict = try judge.judge(x5c: x5c)
        }
        let header = JudgedHeader(text: [UInt8](copying: text), verdict: verdict)
        cache.insert(header)
        return header
    }

    /// `segment` is the text of `payload`.
    private func verify(
        header: JudgedHeader,
        payload: [UInt8],
        signature: [UInt8],
        segment: Span<UInt8>,
        now: UnixMilliseconds
    ) throws(JWSRejection) -> VerifiedPayload {
        guard signature.count == ES256.signatureByteCount else {
            throw JWSRejection(.signatureLength, "The signature has \(signature.count) bytes; it must have 64.")
        }
        let verdict = header.verdict
        guard header.signatures.accepts(signature.span, of: segment) else {
            throw JWSRejection(.signature, "The signature is not the leaf's signature of this record.")
        }
        let json = try JSONElement.strictObject(payload, in: "payload")
        let signedDate = try SignedDate(in: json, now: now)
        guard verdict.validity.contains(signedDate.moment) else {
            let window = "\(verdict.validity.lowerBound.rawValue)...\(verdict.validity.upperBound.rawValue)"
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
            rootDiffers: verdict.rootDiffers
        )
    }
}

extension [UInt8] {
    init(copying span: Span<UInt8>) {
        self = unsafe span.withUnsafeBufferPointer { unsafe [UInt8]($0) }
    }
}
