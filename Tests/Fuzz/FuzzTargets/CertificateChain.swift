import AppStoreModel
import SignedData

extension FuzzTarget {
    /// The `x5c` chain: only leaf, intermediate and root of the shape Apple's have, each signed by the next.
    ///
    /// The first byte chooses: good certificates with changes in their DER, or new certificates made as the input says.
    static let certificateChain = FuzzTarget(name: "certificate-chain", longestInput: 512) { input in
        let store = try FuzzedStore.shared()
        var reader = InputReader(input)
        if reader.byte() % 4 != 0 {
            try store.checkChangedChain(&reader)
        } else {
            try store.checkMadeChain(&reader)
        }
    }
}

extension FuzzedStore {
    private func isBelieved(x5c: [[UInt8]], leaf: IssuedCertificate) -> Bool {
        let payload = Array(#"{"signedDate":\#(Self.now.rawValue)}"#.utf8)
        // A key that cannot sign SHA-256 hashes makes no record to believe.
        guard let text = try? JWSIssuer(x5c: x5c, leaf: leaf).sign(payload: payload) else { return false }
        return believed(text) != nil
    }

    fileprivate func checkChangedChain(_ reader: inout InputReader) throws {
        var chain = authority.chain
        let order = reader.byte()
        if order & 0x80 != 0 { chain.swapAt(Int(order) % 3, Int(order / 4) % 3) }
        let place = Int(reader.byte()) % 3
        chain[place] = edited(chain[place], by: &reader)
        let isBelieved = isBelieved(x5c: chain, leaf: authority.leaf)
        if chain == authority.chain { try promise(isBelieved, "the chain itself is not believed") }
        guard isBelieved else { return }
        // The root in the chain is ignored: the trusted one counts.
        for (found, own) in [(chain[0], authority.leaf.der), (chain[1], authority.intermediate.der)] {
            try promise(found.holds(own.signedPart), "a certificate is believed that nobody signed")
        }
    }

    fileprivate func checkMadeChain(_ reader: inout InputReader) throws {
        var shapes = [
            CertificateShape.intermediate(from: Self.begin, to: Self.end),
            CertificateShape.leaf(from: Self.begin, to: Self.end),
        ]
        // Which certificate signs: the one above, or one that must not.
        let intermediateBy = reader.byte() % 8 == 1 ? authority.leaf : authority.root
        let leafBy = reader.byte() % 8
        while !reader.isAtEnd { shapes[Int(reader.byte()) % 2].spoil(&reader) }
        // OpenSSL refuses some requested values, such as a time after the year 9999.
        guard let intermediate = try? intermediateBy.issue(shapes[0]),
            let leaf = try? (leafBy == 1 ? authority.root : leafBy == 2 ? authority.leaf : intermediate)
                .issue(shapes[1])
        else { return }
        let isGood =
            intermediateBy.der == authority.root.der && leafBy != 1 && leafBy != 2
            && shapes[0].isLikeAppleIntermediate && shapes[1].isLikeAppleLeaf
        let isBelieved = isBelieved(x5c: [leaf.der, intermediate.der, authority.root.der], leaf: leaf)
        try promise(
            isBelieved == isGood,
            isGood ? "a chain as Apple's is not believed" : "a chain is believed that is not as Apple's"
        )
    }
}

extension CertificateShape {
    private static let unknown = "1.3.6.1.4.1.99999.1"

    /// Changes one thing, for better or worse.
    fileprivate mutating func spoil(_ reader: inout InputReader) {
        switch reader.byte() % 8 {
        case 0:
            commonName = String(decoding: reader.bytes(upTo: 1 + Int(reader.byte() % 60)), as: UTF8.self)
        case 1:
            // From 1970 to 2106.
            notBefore = UnixMilliseconds(rawValue: (reader.int64() & 0xFFFF_FFFF) * 1_000)
        case 2:
            notAfter = UnixMilliseconds(rawValue: (reader.int64() & 0xFFFF_FFFF) * 1_000)
        case 3:
            isAuthority.toggle()
        case 4:
            let usages = ["keyEncipherment", "keyAgreement", "digitalSignature", "keyCertSign"]
            keyUsage = [usages[Int(reader.byte()) % usages.count]]
        case 5:
            extensions = []
        case 6:
            let value = reader.bytes(upTo: Int(reader.byte() % 32))
            extensions.append(Extension(Self.unknown, isCritical: reader.byte() % 2 == 0, value: value))
        default:
            let kinds: [KeyKind] = [.secp256k1, .explicitP256, .ed25519, .p256, .p384]
            key = kinds[Int(reader.byte()) % kinds.count]
        }
    }

    /// Whether any chain that contains it may be trusted, at any position.
    private var isSound: Bool {
        notBefore <= FuzzedStore.now && FuzzedStore.now <= notAfter
            // Nobody knows it, and critical means that who does not know it must refuse.
            && !extensions.contains { $0.identifier == Self.unknown && $0.isCritical }
    }

    fileprivate var isLikeAppleIntermediate: Bool {
        isSound && isAuthority && keyUsage.contains("keyCertSign") && (key == .p384 || key == .p256)
            && extensions.contains { $0.identifier == AppleMarker.intermediate }
    }

    fileprivate var isLikeAppleLeaf: Bool {
        isSound && !isAuthority && keyUsage.contains("digitalSignature") && key == .p256
            && extensions.contains { $0.identifier == AppleMarker.leaf }
    }
}

extension [UInt8] {
    /// The first element inside a certificate: what its issuer's signature covers.
    fileprivate var signedPart: ArraySlice<UInt8> {
        // Both the certificate and this element are longer than 255 bytes: a tag, 0x82 and two bytes of length.
        self[4..<8 + (Int(self[6]) << 8 | Int(self[7]))]
    }

    fileprivate func holds(_ part: ArraySlice<UInt8>) -> Bool {
        indices.contains { self[$0...].starts(with: part) }
    }
}
