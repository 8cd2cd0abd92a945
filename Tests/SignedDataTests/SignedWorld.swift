import AppStoreModel
import Hashing

@testable import SignedData

/// A small App Store of one's own: an authority, a verifier that trusts it, and a fixed moment.
struct SignedWorld {
    let authority: CertificateAuthority
    let verifier: JWSVerifier
    let now = Self.now

    static let now = UnixMilliseconds(rawValue: 1_795_000_000_000)  // 2026-11
    static let begin = now - .seconds(365 * 86_400)
    static let end = now + .seconds(365 * 86_400)

    init() throws {
        authority = try CertificateAuthority(from: Self.begin, to: Self.end)
        verifier = try JWSVerifier(trustedRoots: [authority.root.der])
    }

    /// A payload signed a minute ago.
    static func payload(signedDate: String = "\((now - .seconds(60)).rawValue)") -> [UInt8] {
        Array(#"{"transactionId":"2000000123456789","signedDate":\#(signedDate)}"#.utf8)
    }

    func signed(_ payload: [UInt8] = Self.payload()) throws -> String {
        try authority.issuer.sign(payload: payload)
    }

    /// A record under any header, signed by the leaf.
    func signed(header: String, payload: [UInt8] = Self.payload()) throws -> String {
        try JWSIssuer(headerJSON: Array(header.utf8), leaf: authority.leaf).sign(payload: payload)
    }

    /// A record under any chain, signed by the leaf.
    func signed(x5c: [[UInt8]], by leaf: IssuedCertificate? = nil) throws -> String {
        try JWSIssuer(x5c: x5c, leaf: leaf ?? authority.leaf).sign(payload: Self.payload())
    }

    /// The chain as it is in a header.
    var x5cJSON: String {
        x5cJSON(authority.chain.map { String(decoding: Base64.encodeStandard($0), as: UTF8.self) })
    }

    func x5cJSON(_ entries: [String]) -> String {
        "[" + entries.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    }

    /// Why the record is rejected; `nil` when it is accepted.
    func refusal(of jws: String, maximumBytes: Int = JWSVerifier.maximumBytes) -> JWSRejection.Reason? {
        do {
            _ = try verifier.verify(jws, now: now, maximumBytes: maximumBytes)
            return nil
        } catch {
            return error.reason
        }
    }
}

extension String {
    /// The record with one segment replaced; 0 is the header.
    func replacingSegment(_ index: Int, by text: (String) -> String) -> String {
        var segments = split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        segments[index] = text(segments[index])
        return segments.joined(separator: ".")
    }

    func segment(_ index: Int) -> String {
        String(split(separator: ".", omittingEmptySubsequences: false)[index])
    }
}

func base64URL(_ bytes: [UInt8]) -> String {
    String(decoding: Base64.encodeURL(bytes), as: UTF8.self)
}

func decodeURL(_ text: String) -> [UInt8]? {
    Base64.decodeURL(text.utf8.span)
}
