import AppStoreModel
import FoundationEssentials
import Hashing
import TestSupport

@testable import SignedData

/// One page of one listed ID: a good record, and the records that a case adds.
///
/// Everything is signed here, by the test's own authority, the only one that the job trusts.
struct RecordScene: Sendable {
    /// The listed ID; transactions of the page are named by it and two digits more.
    let item: String
    let authority: CertificateAuthority
    let now: UnixMilliseconds
    /// A record as Apple sends it.
    let good: String
    /// Nothing may ever connect here.
    let trap: String

    init(item: String, authority: CertificateAuthority, now: UnixMilliseconds, trap: String) throws {
        self.item = item
        self.authority = authority
        self.now = now
        self.trap = trap
        good = try authority.issuer.sign(
            payload: Array(Self.payload(id: item + "01", item: item, signed: now, changing: [:]).utf8)
        )
    }

    /// Valid a year to either side of `now`; the root has a key identifier that another root can imitate.
    static func authority(around now: UnixMilliseconds) throws -> CertificateAuthority {
        try CertificateAuthority(
            root: rootShape(around: now),
            intermediate: .intermediate(from: now - year, to: now + year),
            leaf: .leaf(from: now - year, to: now + year)
        )
    }

    static func rootShape(around now: UnixMilliseconds) -> CertificateShape {
        var shape = CertificateShape.root(from: now - year, to: now + year)
        shape.subjectKeyIdentifier = [UInt8](repeating: 0x47, count: 20)
        return shape
    }

    static let year = Duration.seconds(365 * 86_400)

    var leafShape: CertificateShape { .leaf(from: now - Self.year, to: now + Self.year) }
    var intermediateShape: CertificateShape { .intermediate(from: now - Self.year, to: now + Self.year) }
    /// When every record was signed that does not say otherwise.
    var signedDate: UnixMilliseconds { now - .seconds(60) }

    /// The second transaction of the page, as JSON text.
    func payload(_ changes: KeyValuePairs<String, String?> = [:]) -> String {
        Self.payload(id: item + "02", item: item, signed: signedDate, changing: changes)
    }

    private static func payload(
        id: String,
        item: String,
        signed: UnixMilliseconds,
        changing changes: KeyValuePairs<String, String?>
    ) -> String {
        jsonText(
            [
                ("transactionId", "\"\(id)\""), ("originalTransactionId", "\"\(item)\""),
                ("bundleId", #""com.example.game""#), ("environment", #""Production""#),
                ("productId", #""pro.monthly""#), ("price", "9990"), ("currency", #""USD""#),
                ("signedDate", "\(signed.rawValue)"),
            ],
            changing: changes
        )
    }

    /// The second transaction, properly signed with any content.
    func signed(_ changes: KeyValuePairs<String, String?> = [:]) throws -> String {
        try signed(bytes: Array(payload(changes).utf8))
    }

    func signed(bytes: [UInt8]) throws -> String {
        try authority.issuer.sign(payload: bytes)
    }

    /// Under any header, signed by the leaf or another; `x5c` stands for the chain.
    func signed(header: String, by leaf: IssuedCertificate? = nil) throws -> String {
        let text = header.replacing("<x5c>", with: x5c(entries))
        return try JWSIssuer(headerJSON: Array(text.utf8), leaf: leaf ?? authority.leaf)
            .sign(payload: Array(payload().utf8))
    }

    /// Under any chain.
    func signed(chain: [[UInt8]], by leaf: IssuedCertificate? = nil, date: UnixMilliseconds? = nil) throws -> String {
        try JWSIssuer(x5c: chain, leaf: leaf ?? authority.leaf)
            .sign(payload: Array(payload(["signedDate": "\((date ?? signedDate).rawValue)"]).utf8))
    }

    /// By a leaf that differs from a good one by `change`.
    func signed(leaf change: (inout CertificateShape) -> Void) throws -> String {
        var shape = leafShape
        change(&shape)
        let leaf = try authority.intermediate.issue(shape)
        // Not every key a leaf can have can sign ES256; the chain is judged before the signature.
        return try signed(chain: chain(leaf), by: shape.key == .p256 ? leaf : authority.leaf)
    }

    /// By a good leaf below an intermediate that differs by `change`.
    func signed(intermediate change: (inout CertificateShape) -> Void) throws -> String {
        var shape = intermediateShape
        change(&shape)
        let intermediate = try authority.root.issue(shape)
        let leaf = try intermediate.issue(leafShape)
        return try signed(chain: [leaf.der, intermediate.der, authority.root.der], by: leaf)
    }

    func chain(_ leaf: IssuedCertificate) -> [[UInt8]] {
        [leaf.der, authority.intermediate.der, authority.root.der]
    }

    /// The chain's certificates as they are in a header.
    var entries: [String] {
        authority.chain.map { String(decoding: Base64.encodeStandard($0), as: UTF8.self) }
    }

    func x5c(_ entries: [String]) -> String {
        "[" + entries.map { "\"\($0)\"" }.joined(separator: ",") + "]"
    }

    /// The second transaction with one entry of its chain written otherwise.
    func signed(entry place: Int, _ change: (String) -> String) throws -> String {
        var entries = entries
        entries[place] = change(entries[place])
        return try signed(header: "{\"alg\":\"ES256\",\"x5c\":\(x5c(entries))}")
    }

    /// The second transaction with other bytes as its signature.
    func signed(signature change: ([UInt8]) -> [UInt8]) throws -> String {
        try Self.changing(2, of: signed()) { base64URL(change(Base64.decodeURL($0.utf8.span) ?? [])) }
    }

    /// A record with one of its segments written otherwise; 0 is the header.
    static func changing(_ place: Int, of jws: String, _ change: (String) -> String) throws -> String {
        var segments = jws.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        segments[place] = change(segments[place])
        return segments.joined(separator: ".")
    }
}

func base64URL(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: Base64.encodeURL(Array(bytes)), as: UTF8.self)
}
