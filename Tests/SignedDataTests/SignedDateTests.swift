import AppStoreModel
import Testing

@testable import SignedData

struct SignedDateTests {
    let world: SignedWorld

    init() throws { world = try SignedWorld() }

    @Test(arguments: [
        "null", #""1794999940000""#, "-1", "-1794999940000", "0", "-0", "true", "[]", "1e400", "99999999999999999999",
        "1e-9",
    ])
    func `J36 a signedDate that is no moment is refused`(value: String) throws {
        #expect(world.refusal(of: try world.signed(SignedWorld.payload(signedDate: value))) == .signedDate)
    }

    @Test func `J36 a missing signedDate is refused`() throws {
        #expect(world.refusal(of: try world.signed(Array(#"{"transactionId":"1"}"#.utf8))) == .signedDate)
    }

    @Test(arguments: [
        ("1794999940000.7297", Int64(1_794_999_940_000)), ("1.79499994E12", 1_794_999_940_000),
        ("1.7949999400019e12", 1_794_999_940_001), ("1794999940000.0", 1_794_999_940_000),
    ])
    func `J37 an inexact signedDate is rounded down and flagged`(text: String, milliseconds: Int64) throws {
        let verified = try world.verifier.verify(world.signed(SignedWorld.payload(signedDate: text)), now: world.now)
        #expect(verified.signedDate.rawValue == milliseconds)
        #expect(verified.signedDateWasInexact)
    }

    @Test func `J38 a date more than a day ahead is refused`() throws {
        let lead = Duration.seconds(24 * 3_600)
        let atLimit = (world.now + lead).rawValue
        #expect(world.refusal(of: try world.signed(SignedWorld.payload(signedDate: "\(atLimit)"))) == nil)
        #expect(world.refusal(of: try world.signed(SignedWorld.payload(signedDate: "\(atLimit + 1)"))) == .future)
        #expect(world.refusal(of: try world.signed(SignedWorld.payload(signedDate: "32472144000000"))) == .future)
    }

    @Test func `CK12 seconds in place of milliseconds are refused`() throws {
        #expect(world.refusal(of: try world.signed(SignedWorld.payload(signedDate: "1794999940"))) == .signedDate)
    }

    @Test func `an AppTransaction is verified at its receiptCreationDate`() throws {
        let payload = Array(#"{"receiptCreationDate":1794999940000}"#.utf8)
        #expect(
            try world.verifier.verify(world.signed(payload), now: world.now).signedDate.rawValue == 1_794_999_940_000
        )
        let both = Array(#"{"receiptCreationDate":1794999940000,"signedDate":null}"#.utf8)
        #expect(world.refusal(of: try world.signed(both)) == .signedDate)
    }

    @Test func `J27 a leaf that has expired since is good for what it signed then`() throws {
        let later = SignedWorld.end + .seconds(10 * 365 * 86_400)
        let verified = try world.verifier.verify(world.signed(), now: later)
        #expect(verified.signedDate < SignedWorld.end)
    }

    @Test(arguments: [-1, 1]) func `J28 J61 a date outside the leaf's life is refused, also from the cache`(side: Int)
        throws
    {
        let month = Duration.seconds(30 * 86_400)
        let leaf = try world.authority.intermediate.issue(.leaf(from: world.now - month, to: world.now - .seconds(1)))
        let issuer = JWSIssuer(x5c: [leaf.der, world.authority.intermediate.der, world.authority.root.der], leaf: leaf)
        let inside = (world.now - .seconds(3_600)).rawValue
        let outside = side < 0 ? (world.now - month).rawValue - 1_000 : world.now.rawValue
        for isWarm in [false, true] {
            let bad = try issuer.sign(payload: SignedWorld.payload(signedDate: "\(outside)"))
            #expect(world.refusal(of: bad) == .validity, "cache warm: \(isWarm)")
            #expect(world.refusal(of: try issuer.sign(payload: SignedWorld.payload(signedDate: "\(inside)"))) == nil)
        }
    }

    @Test func `J29 an intermediate that had expired is refused`() throws {
        let authority = try CertificateAuthority(
            root: .root(from: SignedWorld.begin, to: SignedWorld.end),
            intermediate: .intermediate(from: SignedWorld.begin, to: world.now - .seconds(3_600)),
            leaf: .leaf(from: SignedWorld.begin, to: SignedWorld.end)
        )
        let verifier = try JWSVerifier(trustedRoots: [authority.root.der])
        let rejection = try #require(throws: JWSRejection.self) {
            try verifier.verify(authority.issuer.sign(payload: SignedWorld.payload()), now: world.now)
        }
        #expect(rejection.reason == .validity)
    }
}
