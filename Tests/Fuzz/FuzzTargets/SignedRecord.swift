import AppStoreModel
import Hashing
import SignedData
import StrictJSON

extension FuzzTarget {
    /// A compact JWS: nothing is believed but what our own authority signed, and that byte for byte.
    ///
    /// The first byte chooses: any text; a signed record with changes; any payload, signed; any header, signed.
    static let signedRecord = FuzzTarget(name: "signed-record", longestInput: 4_096) { input in
        let store = try FuzzedStore.shared()
        var reader = InputReader(input)
        switch reader.byte() % 4 {
        case 0:
            let text = String(decoding: reader.remaining(), as: UTF8.self)
            try promise(store.believed(text) == nil, "a record nobody signed is believed")
        case 1:
            let original = store.signed[Int(reader.byte()) % store.signed.count]
            let text = String(decoding: edited(Array(original.utf8), by: &reader), as: UTF8.self)
            try store.checkChanged(text, original)
        case 2:
            try store.checkSignedPayload(reader.remaining())
        default:
            let header = store.header(reader.remaining())
            let payload = Array(#"{"signedDate":1795000000000}"#.utf8)
            let text = try JWSIssuer(headerJSON: header, leaf: store.authority.leaf).sign(payload: payload)
            guard store.believed(text) != nil else { return }
            let object = try? StrictJSON.parseObject(header)
            try promise(object?["alg"]?.string == "ES256", "a header without ES256 is believed")
            let chain = object?["x5c"]?.array?.compactMap(\.string).map { Base64.decodeStandard($0.utf8.span) }
            try promise(
                chain?.count == 3 && chain?[0] == store.authority.leaf.der
                    && chain?[1] == store.authority.intermediate.der,
                "a header with another chain is believed"
            )
        }
    }
}

extension FuzzedStore {
    func believed(_ text: String) -> VerifiedPayload? {
        try? verifier.verify(text, now: Self.now)
    }

    fileprivate func checkChanged(_ text: String, _ original: String) throws {
        guard let payload = believed(text) else {
            return try promise(!text.isByteEqual(to: original), "an unchanged record is not believed")
        }
        let segments = original.split(separator: ".")
        let again = payload.parts.text
        try promise(again.isByteEqual(to: text), "the archive would give back another text than what came")
        // The signature may be another valid one: ECDSA has two for everything.
        try promise(
            again.hasPrefix(segments[0] + "." + segments[1] + "."),
            "a record is believed whose header or payload nobody signed"
        )
        do {
            _ = try verifier.verify(payload.parts, now: Self.now)
        } catch {
            try promise(false, "a record that is believed is refused from the archive: \(error)")
        }
    }

    fileprivate func checkSignedPayload(_ payload: [UInt8]) throws {
        let text = try issuer.sign(payload: payload)
        do {
            let believed = try verifier.verify(text, now: Self.now)
            try promise(believed.payload == payload, "another payload is believed than what was signed")
            let read = try? StrictJSON.parseObject(payload)
            try promise(read == believed.json.object, "the payload was read in another way")
            let date = believed.signedDate
            try promise(
                date >= Self.begin && date <= Self.now + .seconds(86_400),
                "a record is believed that was signed at \(date.rawValue)"
            )
        } catch let error as JWSRejection {
            let allowed: Set<JWSRejection.Reason> = [
                .format, .encoding, .duplicateKey, .nul, .json, .jsonDepth, .signedDate, .future, .validity,
            ]
            try promise(allowed.contains(error.reason), "a well signed record is refused: \(error)")
        }
    }

    /// The header that an input describes: bytes 1 to 4 stand for the chain and its certificates, too long for the fuzzer.
    fileprivate func header(_ template: [UInt8]) -> [UInt8] {
        let entries = authority.chain.map { [0x22] + Base64.encodeStandard($0) + [0x22] }
        let chain = Array("[".utf8) + entries.joined(separator: ",".utf8) + Array("]".utf8)
        return template.flatMap { byte in
            switch byte {
            case 1: chain
            case 2...4: entries[Int(byte) - 2]
            default: [byte]
            }
        }
    }
}
