import AppStoreModel
import Testing

@testable import SignedData

/// Verifying the parts of an archived record has the same result as verifying its text.
struct JWSPartsTests {
    private let world: SignedWorld

    init() throws { world = try SignedWorld() }

    /// The result of checking a record: the same for both forms.
    private struct Verdict: Equatable {
        var rejection: JWSRejection?
        var payload: [UInt8] = []
        var hash: [UInt8] = []
        var texts: [String] = []
        var signedDate: UnixMilliseconds?
    }

    private func verdict(_ verify: () throws(JWSRejection) -> VerifiedPayload) -> Verdict {
        do {
            let payload = try verify()
            return Verdict(
                payload: payload.payload,
                hash: payload.payloadSHA256,
                texts: [payload.parts.text, String(decoding: payload.header, as: UTF8.self)],
                signedDate: payload.signedDate
            )
        } catch {
            return Verdict(rejection: error)
        }
    }

    @Test(arguments: [false, true])
    func `parts and text of a record verify with the same result, with a known or a new header`(_ isKnown: Bool) throws
    {
        let genuine = try world.verifier.verify(world.signed(), now: world.now).parts
        let other = try world.verifier.verify(world.signed(SignedWorld.payload() + [0x20]), now: world.now).parts
        let old = try world.signed(SignedWorld.payload(signedDate: "1"))
        let early = try #require(decodeURL(old.segment(1))), ofEarly = try #require(decodeURL(old.segment(2)))
        func changed(header: [UInt8]? = nil, payload: [UInt8]? = nil, signature: [UInt8]? = nil) -> JWSParts {
            JWSParts(
                header: header ?? genuine.header,
                payload: payload ?? genuine.payload,
                signature: signature ?? genuine.signature
            )
        }
        let header = genuine.header
        let records: [(JWSParts, JWSRejection.Reason?)] = [
            (genuine, nil), (other, nil), (changed(payload: other.payload), .signature),
            (changed(signature: other.signature), .signature), (changed(payload: []), .format),
            (changed(signature: []), .signatureLength), (changed(signature: genuine.signature + [0]), .signatureLength),
            (changed(payload: [UInt8](repeating: 0x20, count: 60_000)), .size),
            (changed(payload: early, signature: ofEarly), .signedDate), (changed(header: []), .format),
            (changed(header: header + Array(".e30".utf8)), .format), (changed(header: [0x20] + header), .format),
            (changed(header: [0xFF] + header), .format), (changed(header: header + [0xFF]), .base64),
            (changed(header: header.dropLast()), .base64), (changed(header: Array("e30".utf8)), .header),
        ]
        for (parts, reason) in records {
            let byParts = try JWSVerifier(trustedRoots: [world.authority.root.der])
            if isKnown { _ = try byParts.verify(genuine.text, now: world.now) }
            let byText = try JWSVerifier(trustedRoots: [world.authority.root.der])
            let found = verdict { () throws(JWSRejection) in try byParts.verify(parts, now: world.now) }
            #expect(found == verdict { () throws(JWSRejection) in try byText.verify(parts.text, now: world.now) })
            #expect(found.rejection?.reason == reason)
        }
    }

    @Test(arguments: 0..<3)
    func `J54 the limit is one of the text, to the byte`(spaces: Int) throws {
        let payload = SignedWorld.payload() + [UInt8](repeating: 0x20, count: spaces)
        let jws = try world.signed(payload)
        let parts = try world.verifier.verify(jws, now: world.now).parts
        #expect(parts.text == jws && parts.textByteCount == jws.utf8.count)
        let limit = jws.utf8.count
        #expect(try world.verifier.verify(parts, now: world.now, maximumBytes: limit).payload == payload)
        #expect(throws: JWSRejection(.size, "The record has \(limit) bytes; at most \(limit - 1) are read.")) {
            try world.verifier.verify(parts, now: world.now, maximumBytes: limit - 1)
        }
    }
}
