import AppStoreModel
import Hashing
import TestSupport
import Testing

@testable import SignedData

struct ChainTests {
    let world: SignedWorld
    let authority: CertificateAuthority

    init() throws {
        world = try SignedWorld()
        authority = world.authority
    }

    static let leafShape = CertificateShape.leaf(from: SignedWorld.begin, to: SignedWorld.end)
    static let intermediateShape = CertificateShape.intermediate(from: SignedWorld.begin, to: SignedWorld.end)
    static let rootShape = CertificateShape.root(from: SignedWorld.begin, to: SignedWorld.end)

    /// A leaf that differs from a good one by `change`, under the trusted chain.
    private func refusalOfLeaf(_ change: (inout CertificateShape) -> Void) throws -> JWSRejection.Reason? {
        var shape = Self.leafShape
        change(&shape)
        let leaf = try authority.intermediate.issue(shape)
        // Not every key a leaf can have can sign ES256; the chain is judged before the signature.
        let signer = shape.key == .p256 ? leaf : authority.leaf
        return world.refusal(
            of: try world.signed(x5c: [leaf.der, authority.intermediate.der, authority.root.der], by: signer)
        )
    }

    private func refusalOfIntermediate(_ change: (inout CertificateShape) -> Void) throws -> JWSRejection.Reason? {
        var shape = Self.intermediateShape
        change(&shape)
        let intermediate = try authority.root.issue(shape)
        let leaf = try intermediate.issue(Self.leafShape)
        return world.refusal(of: try world.signed(x5c: [leaf.der, intermediate.der, authority.root.der], by: leaf))
    }

    @Test func `J13 a complete foreign chain is refused`() throws {
        let attacker = try CertificateAuthority(from: SignedWorld.begin, to: SignedWorld.end)
        #expect(world.refusal(of: try world.signed(x5c: attacker.chain, by: attacker.leaf)) == .chain)
    }

    @Test func `J13 a foreign chain that shows our root is refused`() throws {
        let attacker = try CertificateAuthority(from: SignedWorld.begin, to: SignedWorld.end)
        let x5c = [attacker.leaf.der, attacker.intermediate.der, authority.root.der]
        #expect(world.refusal(of: try world.signed(x5c: x5c, by: attacker.leaf)) == .chain)
    }

    @Test func `J14 J15 another root in the token is counted and not trusted`() throws {
        let attacker = try IssuedCertificate.selfSigned(Self.rootShape)
        for third in [attacker.der, Array("garbage".utf8)] {
            let jws = try world.signed(x5c: [authority.leaf.der, authority.intermediate.der, third])
            #expect(try world.verifier.verify(jws, now: world.now).rootDiffers)
        }
    }

    @Test(arguments: 0..<3) func `J15 J55 a certificate over 4 KiB is refused`(index: Int) throws {
        var x5c = authority.chain
        x5c[index] = [UInt8](repeating: 0x30, count: 5 * 1_024)
        #expect(world.refusal(of: try world.signed(x5c: x5c)) == .x5c)
    }

    @Test(
        arguments: 0..<2,
        [
            [0x30, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x30], [0x30, 0x80, 0x30, 0x80, 0, 0, 0, 0],
            [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0x81, 0x01, 0x00], [0x1F, 0x1F, 0x1F, 0x1F], [0x30],
            [0x05, 0x00],
        ] as [[UInt8]]
    )
    func `J55 DER that cannot be measured is refused`(index: Int, bytes: [UInt8]) throws {
        var x5c = authority.chain
        x5c[index] = bytes
        #expect(world.refusal(of: try world.signed(x5c: x5c)) == .x5c)
    }

    @Test func `J55 bytes after a certificate are refused`() throws {
        let x5c = [authority.leaf.der + [0x00], authority.intermediate.der, authority.root.der]
        #expect(world.refusal(of: try world.signed(x5c: x5c)) == .x5c)
    }

    @Test func `J18 leaf and intermediate swapped are refused`() throws {
        let x5c = [authority.intermediate.der, authority.leaf.der, authority.root.der]
        #expect(world.refusal(of: try world.signed(x5c: x5c)) == .chain)
    }

    @Test func `J19 a leaf repeated in place of the intermediate is refused`() throws {
        #expect(
            world.refusal(of: try world.signed(x5c: [authority.leaf.der, authority.leaf.der, authority.root.der]))
                == .chain
        )
    }

    @Test func `J20 a root of the same name and key identifier does not count`() throws {
        let identifier = Array(SHA256.digest(of: authority.root.der).prefix(20))
        var shape = Self.rootShape
        shape.subjectKeyIdentifier = identifier
        let trusted = try IssuedCertificate.selfSigned(shape)
        let twin = try IssuedCertificate.selfSigned(shape)
        let verifier = try JWSVerifier(trustedRoots: [trusted.der])
        for (root, isTrusted) in [(trusted, true), (twin, false)] {
            let intermediate = try root.issue(Self.intermediateShape)
            let leaf = try intermediate.issue(Self.leafShape)
            let jws = try JWSIssuer(x5c: [leaf.der, intermediate.der, trusted.der], leaf: leaf)
                .sign(payload: SignedWorld.payload())
            if isTrusted {
                _ = try verifier.verify(jws, now: world.now)
            } else {
                let rejection = #expect(throws: JWSRejection.self) { try verifier.verify(jws, now: world.now) }
                #expect(rejection?.reason == .chain)
            }
        }
    }

    @Test func `J21 a leaf without Apple's marker is refused`() throws {
        #expect(try refusalOfLeaf { $0.extensions = [] } == .leafMarker)
        #expect(try refusalOfLeaf { $0.extensions = [.init(AppleMarker.intermediate)] } == .leafMarker)
    }

    @Test func `J22 an intermediate without Apple's marker is refused`() throws {
        #expect(try refusalOfIntermediate { $0.extensions = [] } == .intermediateMarker)
        #expect(
            try refusalOfIntermediate { $0.extensions = [.init("1.2.840.113635.100.6.2.2")] } == .intermediateMarker
        )
    }

    @Test func `J23 the marker named inside another extension does not count`() throws {
        let identifier: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x06, 0x0B, 0x01]
        let policies = der(0x30, der(0x30, der(0x06, identifier)))
        let alternativeName = der(0x30, der(0x88, identifier))
        #expect(try refusalOfLeaf { $0.extensions = [.init("2.5.29.32", value: policies)] } == .leafMarker)
        #expect(try refusalOfLeaf { $0.extensions = [.init("2.5.29.17", value: alternativeName)] } == .leafMarker)
    }

    @Test func `J24 the intermediate itself used as leaf is refused`() throws {
        for second in [authority.intermediate, authority.root] {
            let x5c = [authority.intermediate.der, second.der, authority.root.der]
            #expect(world.refusal(of: try world.signed(x5c: x5c, by: authority.leaf)) == .leafIsAuthority)
        }
        let roots = [authority.root.der, authority.root.der, authority.root.der]
        #expect(world.refusal(of: try world.signed(x5c: roots)) == .leafIsAuthority)
    }

    @Test(arguments: [["digitalSignature"], ["digitalSignature", "keyCertSign"], []])
    func `J25 a leaf that is an authority is refused`(keyUsage: [String]) throws {
        let reason = try refusalOfLeaf {
            $0.isAuthority = true
            $0.keyUsage = keyUsage
        }
        #expect(reason == .chain)
    }

    @Test func `J25 an intermediate that may not issue is refused`() throws {
        #expect(
            try refusalOfIntermediate {
                $0.isAuthority = false; $0.pathLength = nil
            } == .chain
        )
        #expect(try refusalOfIntermediate { $0.keyUsage = ["digitalSignature"] } == .chain)
    }

    @Test func `J25 an authority below an intermediate of path length 0 is refused`() throws {
        let extra = try authority.intermediate.issue(Self.intermediateShape)
        let leaf = try extra.issue(Self.leafShape)
        #expect(
            world.refusal(of: try world.signed(x5c: [leaf.der, extra.der, authority.root.der], by: leaf)) == .chain
        )
    }

    @Test func `a leaf directly under the root is refused`() throws {
        let leaf = try authority.root.issue(Self.leafShape)
        let x5c = [leaf.der, authority.intermediate.der, authority.root.der]
        #expect(world.refusal(of: try world.signed(x5c: x5c, by: leaf)) == .chain)
    }

    @Test func `a leaf whose keyUsage excludes signatures is refused`() throws {
        #expect(try refusalOfLeaf { $0.keyUsage = ["keyAgreement"] } == .chain)
        #expect(try refusalOfLeaf { $0.keyUsage = [] } == nil)
    }

    @Test func `J26 an unknown critical extension is refused and an uncritical one is not`() throws {
        let identifier = "1.2.840.113635.100.6.99.1"
        #expect(try refusalOfLeaf { $0.extensions.append(.init(identifier, isCritical: true)) } == .chain)
        #expect(try refusalOfIntermediate { $0.extensions.append(.init(identifier, isCritical: true)) } == .chain)
        #expect(try refusalOfLeaf { $0.extensions.append(.init(identifier)) } == nil)
    }

    @Test(arguments: KeyKind.allCases) func `J45 only a P-256 leaf key on the named curve will do`(kind: KeyKind) throws
    {
        #expect(try refusalOfLeaf { $0.key = kind } == (kind == .p256 ? nil : .leafKey))
    }

    @Test func `J45 an intermediate with spelt-out curve parameters never reaches OpenSSL`() throws {
        #expect(try refusalOfIntermediate { $0.key = .explicitP256 } == .chain)
    }

    @Test func `J46 parameters that loop in old parsers are refused at once`() throws {
        for (place, reason) in [(0, JWSRejection.Reason.leafKey), (1, .chain), (2, nil)] {
            var x5c = authority.chain
            x5c[place] = loopingCertificate
            let jws = try world.signed(x5c: x5c)
            let began = threadCPUSeconds()
            let refusal = world.refusal(of: jws)
            let took = threadCPUSeconds() - began
            #expect(refusal == reason)
            #expect(took < 0.1)
        }
    }

    @Test func `J60 another intermediate with a known leaf is verified again`() throws {
        #expect(world.refusal(of: try world.signed()) == nil)
        let attacker = try CertificateAuthority(from: SignedWorld.begin, to: SignedWorld.end)
        let x5c = [authority.leaf.der, attacker.intermediate.der, authority.root.der]
        #expect(world.refusal(of: try world.signed(x5c: x5c)) == .chain)
    }

    @Test func `J62 ten thousand bad chains are not remembered and good ones are bounded`() throws {
        let rest = try world.signed().split(separator: ".").dropFirst().joined(separator: ".")
        for number in 0..<10_000 {
            var leaf = authority.leaf.der
            // Inside the certificate's signature, so that each is another chain; none has an intermediate.
            leaf[leaf.count - 1] = UInt8(number & 0xFF)
            leaf[leaf.count - 2] = UInt8(number >> 8)
            let entry = String(decoding: Base64.encodeStandard(leaf), as: UTF8.self)
            let header = #"{"alg":"ES256","x5c":\#(world.x5cJSON([entry, "MAA=", "MAA="]))}"#
            #expect(world.refusal(of: base64URL(Array(header.utf8)) + "." + rest) == .x5c)
        }
        #expect(world.verifier.cachedChainCount == 0)
        #expect(world.refusal(of: try world.signed()) == nil)
        #expect(world.verifier.cachedChainCount == 1)

        let chains = try ChainVerifier(trustedRoots: [authority.root.der])
        let chain = try chains.verify(x5c: authority.chain)
        let cache = ChainCache(capacity: 8)
        for number in 0..<100 { cache.insert(VerifiedHeader(text: [UInt8(number)], chain: chain)) }
        #expect(cache.count == 8)
        #expect(cache[([99] as [UInt8]).span]?.text == [99])
        #expect(cache[([91] as [UInt8]).span] == nil)
    }

    @Test func `any number of threads may share one verifier`() async throws {
        let records = try (0..<64).map {
            try world.signed(SignedWorld.payload(signedDate: "\(1_794_999_940_000 + $0)"))
        }
        let (verifier, now) = (world.verifier, world.now)
        let dates = try await withThrowingTaskGroup(of: Int64.self) { group in
            for record in records { group.addTask { try verifier.verify(record, now: now).signedDate.rawValue } }
            return try await group.reduce(into: Set<Int64>()) { $0.insert($1) }
        }
        #expect(dates.count == 64)
    }

    @Test func `a trusted root that cannot be one is named`() throws {
        let cases: [([[UInt8]], CertificateError.Reason)] = [
            ([], .noRoots), ([[1, 2, 3]], .notACertificate), ([[UInt8](repeating: 0, count: 5_000)], .tooLong),
            ([authority.intermediate.der], .notSelfSigned),
            ([try IssuedCertificate.selfSigned(Self.leafShape).der], .notAnAuthority),
        ]
        for (roots, reason) in cases {
            let error = #expect(throws: CertificateError.self) { try JWSVerifier(trustedRoots: roots) }
            #expect(error?.reason == reason)
        }
        let second = #expect(throws: CertificateError.self) { try JWSVerifier(trustedRoots: [AppleRootCA.g3, [0]]) }
        #expect(second?.index == 1)
        #expect(second?.description.contains("Trusted root 1") == true)
    }

    @Test func `an authority comes back from its text with the same keys`() throws {
        let again = try CertificateAuthority(pem: authority.pem)
        #expect(again.chain == authority.chain)
        #expect(world.refusal(of: try again.issuer.sign(payload: SignedWorld.payload())) == nil)
        #expect("\(authority.pem)" == "<redacted>")
        let error = #expect(throws: CertificateError.self) { try CertificateAuthority(pem: Secret("nonsense")) }
        #expect(error?.reason == .badAuthorityText)
    }
}
